"""What gcloud's create commands take, by the version of the SDK in which it came or changed.

Written by infra/gcloud/write_surface.py out of gcloud's own parser; a change by hand is lost.
VERSION:V1,BETA,ALPHA: c is create, b is bulk create, k is create-with-container; preview has what v1 has.
A field without a version stands in the discovery document only.
"""

TABLE = """\
versions 528 578
flag accelerator 528:cbk,cbk,cbk
flag access-token-file 528:cbk,cbk,cbk
flag account 528:cbk,cbk,cbk
flag address 528:ck,ck,ck
flag async 528:cb,cb,cb negatable default=false
flag authority-selector 528:cbk,cbk,cbk
flag authorization-token-file 528:cbk,cbk,cbk
flag availability-domain 528:c,c,c
flag billing-project 528:cbk,cbk,cbk
flag boot-disk-auto-delete 528:cbk,cbk,cbk negatable default=true
flag boot-disk-device-name 528:cbk,cbk,cbk
flag boot-disk-interface 528:cbk,cbk,cbk
flag boot-disk-kms-key 528:cb,cb,cb
flag boot-disk-kms-keyring 528:cb,cb,cb
flag boot-disk-kms-location 528:cb,cb,cb
flag boot-disk-kms-project 528:cb,cb,cb
flag boot-disk-provisioned-iops 528:cbk,cbk,cbk
flag boot-disk-provisioned-throughput 528:cbk,cbk,cbk
flag boot-disk-size 528:cbk,cbk,cbk
flag boot-disk-type 528:cbk,cbk,cbk
flag can-ip-forward 528:cbk,cbk,cbk negatable default=false
flag confidential-compute 528:cbk,cbk,cbk negatable
flag confidential-compute-type 528:cbk,cbk,cbk
flag configuration 528:cbk,cbk,cbk
flag container-arg 528:k,k,k
flag container-command 528:k,k,k
flag container-env 528:k,k,k
flag container-env-file 528:k,k,k
flag container-image 528:k,k,k
flag container-mount-disk 528:k,k,k
flag container-mount-host-path 528:k,k,k
flag container-mount-tmpfs 528:k,k,k
flag container-privileged 528:k,k,k negatable default=false
flag container-restart-policy 528:k,k,k default="always"
flag container-stdin 528:k,k,k negatable default=false
flag container-tty 528:k,k,k negatable default=false
flag count 528:b,b,b
flag create-disk 528:cbk,cbk,cbk
flag credential-file-override 528:cbk,cbk,cbk
flag csek-key-file 528:c,c,c
flag current-cpus 578:,,c
flag custom-cpu 528:cbk,cbk,cbk
flag custom-extensions 528:cbk,cbk,cbk negatable default=false
flag custom-memory 528:cbk,cbk,cbk
flag custom-vm-type 528:cbk,cbk,cbk
flag deletion-protection 528:c,c,c negatable default=false
flag description 528:cbk,cbk,cbk
flag discard-local-ssds-at-termination-timestamp 528:cbk,cbk,cbk
flag disk 528:cbk,cbk,cbk
flag enable-display-device 528:c,cb,cb negatable default=false
flag enable-nested-virtualization 528:cbk,cbk,cbk negatable
flag enable-uefi-networking 528:cb,cb,cb negatable
flag enable-watchdog-timer 528:,,cb negatable
flag erase-windows-vss-signature 528:cb,cb,cb negatable default=false
flag external-ipv6-address 528:ck,ck,ck
flag external-ipv6-prefix-length 528:ck,ck,ck
flag flatten 528:cbk,cbk,cbk
flag format 528:cbk,cbk,cbk
flag graceful-shutdown 528:,cbk,cbk
flag graceful-shutdown-max-duration 528:,cbk,cbk
flag host-error-timeout-seconds 528:cbk,cbk,cbk
flag hostname 528:c,c,c
flag http-timeout 528:cbk,cbk,cbk
flag identity 578:cbk,cbk,cbk
flag identity-certificate 578:cbk,cbk,cbk negatable
flag image 528:cbk,cbk,cbk
flag image-family 528:cbk,cbk,cbk
flag image-family-scope 528:c,c,c
flag image-project 528:cbk,cbk,cbk
flag impersonate-service-account 528:cbk,cbk,cbk
flag instance-kms-key 528:c,c,c
flag instance-kms-keyring 528:c,c,c
flag instance-kms-location 528:c,c,c
flag instance-kms-project 528:c,c,c
flag instance-selection 578:b,b,b
flag instance-selection-machine-types 578:b,b,b
flag instance-termination-action 528:cbk,cbk,cbk
flag internal-ipv6-address 528:ck,ck,ck
flag internal-ipv6-prefix-length 528:ck,ck,ck
flag ipv6-address 528:,,ck
flag ipv6-network-tier 528:ck,ck,ck
flag ipv6-prefix-length 528:,,ck
flag ipv6-public-ptr-domain 528:c,c,c
flag key-revocation-action-type 528:c,c,c
flag labels 528:cbk,cbk,cbk
flag local-nvdimm 528:,,ck
flag local-ssd 528:cb,cbk,cbk
flag local-ssd-encryption-mode 578:c,c,c
flag local-ssd-recovery-timeout 528:cbk,cbk,cbk
flag location-hint 528:cb,cb,cb
flag location-policy 528:b,b,b
flag log-http 528:cbk,cbk,cbk negatable
flag machine-type 528:cbk,cbk,cbk
flag maintenance-freeze-duration 528:,,c
flag maintenance-interval 528:,,cb
flag maintenance-policy 528:cbk,cbk,cbk
flag max-count-per-zone 528:b,b,b
flag max-run-duration 528:cbk,cbk,cbk
flag metadata 528:cbk,cbk,cbk
flag metadata-from-file 528:cbk,cbk,cbk
flag min-count 528:b,b,b
flag min-cpu-platform 528:cbk,cbk,cbk
flag min-node-cpu 528:cb,cb,cb
flag name-pattern 528:b,b,b
flag network 528:cbk,cbk,cbk
flag network-interface 528:cbk,cbk,cbk
flag network-interface-from-file 528:,,c
flag network-interface-from-json-string 528:,,c
flag network-performance-configs 528:cbk,cbk,cbk
flag network-tier 528:cbk,cbk,cbk
flag no-address 528:cbk,cbk,cbk default=false
flag no-public-dns 528:b,b,cbk default=false
flag no-public-ptr 528:ck,ck,ck default=false
flag no-public-ptr-domain 528:ck,ck,ck default=false
flag no-scopes 528:cbk,cbk,cbk default=false
flag no-service-account 528:cbk,cbk,cbk default=false
flag node 528:c,c,c
flag node-affinity-file 528:c,c,c
flag node-group 528:c,c,c
flag node-project 528:c,c,c
flag numa-node-count 528:,,cbk
flag on-host-maintenance 528:b,b,cbk
flag partner-metadata 528:,c,c
flag partner-metadata-from-file 528:,c,c
flag per-instance-hostnames 528:,b,b
flag performance-monitoring-unit 528:cb,cb,cb
flag post-key-revocation-action-type 528:b,cb,cb
flag predefined-names 528:b,b,b
flag preemptible 528:cbk,cbk,cbk negatable default=false
flag preemption-notice-duration 578:,cb,cb
flag private-ipv6-google-access-type 528:ck,ck,ck
flag private-network-ip 528:ck,ck,ck
flag project 528:cbk,cbk,cbk
flag provisioning-model 528:cbk,cbk,cbk
flag public-dns 528:b,b,cbk default=false
flag public-ptr 528:ck,ck,ck default=false
flag public-ptr-domain 528:ck,ck,ck
flag quiet 528:cbk,cbk,cbk
flag region 528:b,b,b
flag request-valid-for-duration 578:ck,ck,ck
flag require-csek-key-create 528:c,c,c negatable default=true
flag reservation 528:cbk,cbk,cbk
flag reservation-affinity 528:cbk,cbk,cbk default="any"
flag resource-manager-tags 528:cb,cb,cb
flag resource-policies 528:cbk,cbk,cbk
flag restart-on-failure 528:cbk,cbk,cbk negatable default=true
flag scopes 528:cbk,cbk,cbk
flag secure-tags 528:,,cb
flag service-account 528:cbk,cbk,cbk
flag shielded-integrity-monitoring 528:cbk,cbk,cbk negatable
flag shielded-secure-boot 528:cbk,cbk,cbk negatable
flag shielded-vtpm 528:cbk,cbk,cbk negatable
flag skip-guest-os-shutdown 578:cbk,cbk,cbk negatable
flag source-instance-template 528:cbk,cbk,cbk
flag source-instant-snapshot 528:,,c
flag source-machine-image 528:c,c,c
flag source-machine-image-csek-key-file 528:c,c,c
flag source-snapshot 528:cb,cb,cb
flag source-snapshot-region 528:,c,c 578:,c,cb
flag stack-type 528:cbk,cbk,cbk
flag subnet 528:cbk,cbk,cbk
flag svsm-config 528:,,cbk
flag tags 528:cbk,cbk,cbk
flag target-distribution-shape 528:b,b,b
flag termination-time 528:cbk,cbk,cbk
flag threads-per-core 528:cbk,cbk,cbk
flag trace-token 528:cbk,cbk,cbk
flag turbo-mode 528:cb,cb,cb
flag universe-domain 528:cbk,cbk,cbk
flag user-output-enabled 528:cbk,cbk,cbk negatable
flag verbosity 528:cbk,cbk,cbk default="warning"
flag visible-core-count 528:cbk,cbk,cbk
flag vsock-mode 578:,,cbk
flag zone 528:cbk,cbk,cbk
choice confidential-compute-type SEV 528:cbk,cbk,cbk
choice confidential-compute-type SEV_SNP 528:cbk,cbk,cbk
choice confidential-compute-type TDX 528:cbk,cbk,cbk
choice container-restart-policy always 528:k,k,k
choice container-restart-policy never 528:k,k,k
choice container-restart-policy on-failure 528:k,k,k
choice image-family-scope global 528:c,c,c
choice image-family-scope zonal 528:c,c,c
choice instance-termination-action DELETE 528:cbk,cbk,cbk
choice instance-termination-action STOP 528:cbk,cbk,cbk
choice ipv6-network-tier PREMIUM 528:ck,ck,ck
choice ipv6-network-tier STANDARD 578:,,c
choice key-revocation-action-type none 528:c,c,c
choice key-revocation-action-type stop 528:c,c,c
choice local-ssd-encryption-mode EPHEMERAL_KEY_ENCRYPTION 578:c,c,c
choice local-ssd-encryption-mode STANDARD_ENCRYPTION 578:c,c,c
choice maintenance-interval PERIODIC 528:,,cb
choice maintenance-interval RECURRENT 528:,,cb
choice maintenance-policy MIGRATE 528:cbk,cbk,cbk
choice maintenance-policy TERMINATE 528:cbk,cbk,cbk
choice on-host-maintenance MIGRATE 528:b,b,cbk
choice on-host-maintenance TERMINATE 528:b,b,cbk
choice performance-monitoring-unit architectural 528:cb,cb,cb
choice performance-monitoring-unit enhanced 528:cb,cb,cb
choice performance-monitoring-unit standard 528:cb,cb,cb
choice post-key-revocation-action-type noop 528:b,cb,cb
choice post-key-revocation-action-type shutdown 528:b,cb,cb
choice private-ipv6-google-access-type enable-bidirectional-access 528:ck,ck,ck
choice private-ipv6-google-access-type enable-outbound-vm-access 528:ck,ck,ck
choice private-ipv6-google-access-type inherit-subnetwork 528:ck,ck,ck
choice provisioning-model FLEX_START 528:,,ck 578:ck,ck,ck
choice provisioning-model RESERVATION_BOUND 528:cbk,cbk,cbk
choice provisioning-model SPOT 528:cbk,cbk,cbk
choice provisioning-model STANDARD 528:cbk,cbk,cbk
choice reservation-affinity any 528:cbk,cbk,cbk
choice reservation-affinity any-reservation-then-fail 578:,cbk,cbk
choice reservation-affinity none 528:cbk,cbk,cbk
choice reservation-affinity specific 528:cbk,cbk,cbk
choice reservation-affinity specific-then-any-reservation 528:,cbk,cbk
choice reservation-affinity specific-then-no-reservation 528:,cbk,cbk
choice stack-type IPV4_IPV6 528:cbk,cbk,cbk
choice stack-type IPV4_ONLY 528:cbk,cbk,cbk
choice stack-type IPV6_ONLY 528:cbk,cbk,cbk
choice target-distribution-shape ANY 528:b,b,b
choice target-distribution-shape ANY_SINGLE_ZONE 528:b,b,b
choice target-distribution-shape BALANCED 528:b,b,b
choice verbosity critical 528:cbk,cbk,cbk
choice verbosity debug 528:cbk,cbk,cbk
choice verbosity error 528:cbk,cbk,cbk
choice verbosity info 528:cbk,cbk,cbk
choice verbosity none 528:cbk,cbk,cbk
choice verbosity warning 528:cbk,cbk,cbk
choice vsock-mode disabled 578:,,cbk
choice vsock-mode enabled 578:,,cbk
key accelerator count 528:cbk,cbk,cbk
key accelerator type 528:cbk,cbk,cbk
key container-mount-disk mode 528:k,k,k
key container-mount-disk mount-path 528:k,k,k
key container-mount-disk name 528:k,k,k
key container-mount-disk partition 528:k,k,k
key container-mount-host-path host-path 528:k,k,k
key container-mount-host-path mode 528:k,k,k
key container-mount-host-path mount-path 528:k,k,k
key container-mount-tmpfs mount-path 528:k,k,k
key create-disk architecture 528:cbk,cbk,cbk
key create-disk auto-delete 528:cbk,cbk,cbk
key create-disk boot 528:cb,cb,cb
key create-disk confidential-compute 528:c,c,c
key create-disk description 528:cbk,cbk,cbk
key create-disk device-name 528:cbk,cbk,cbk
key create-disk disk-resource-policy 528:cbk,cbk,cbk
key create-disk image 528:cbk,cbk,cbk
key create-disk image-csek-key-file 528:b,b,cb
key create-disk image-family 528:cbk,cbk,cbk
key create-disk image-project 528:cbk,cbk,cbk
key create-disk interface 528:cbk,cbk,cbk
key create-disk kms-key 528:cb,cb,cb
key create-disk kms-keyring 528:cb,cb,cb
key create-disk kms-location 528:cb,cb,cb
key create-disk kms-project 528:cb,cb,cb
key create-disk labels 528:cbk,cbk,cbk
key create-disk mode 528:cbk,cbk,cbk
key create-disk multi-writer 528:,ck,ck
key create-disk name 528:ck,ck,ck
key create-disk on-update-action 578:cbk,cbk,cbk
key create-disk provisioned-iops 528:cbk,cbk,cbk
key create-disk provisioned-throughput 528:cbk,cbk,cbk
key create-disk replica-zones 528:cbk,cbk,cbk
key create-disk size 528:cbk,cbk,cbk
key create-disk source-instant-snapshot 528:,,c
key create-disk source-snapshot 528:cb,cb,cb
key create-disk source-snapshot-csek-key-file 528:,,c
key create-disk source-snapshot-region 528:,c,c 578:,c,cb
key create-disk storage-pool 528:cbk,cbk,cbk
key create-disk type 528:cbk,cbk,cbk
key disk auto-delete 528:ck,ck,ck
key disk boot 528:cbk,cbk,cbk
key disk device-name 528:cbk,cbk,cbk
key disk force-attach 528:ck,ck,ck
key disk interface 528:ck,ck,ck
key disk mode 528:ck,ck,ck
key disk name 528:cbk,cbk,cbk
key disk scope 528:cbk,cbk,cbk
key local-nvdimm size 528:,,ck
key local-ssd device-name 528:cb,cbk,cbk
key local-ssd interface 528:cb,cbk,cbk
key local-ssd size 528:cb,cb,cbk
key network-interface address 528:ck,ck,ck
key network-interface aliases 528:ck,ck,ck
key network-interface dns64-eligible 578:,,c
key network-interface enable-vpc-scoped-dns 578:ck,ck,ck
key network-interface external-ipv6-address 528:ck,ck,ck
key network-interface external-ipv6-prefix-length 528:ck,ck,ck
key network-interface igmp-query 528:,cb,cb 578:c,c,cb
key network-interface internal-ipv6-address 528:ck,ck,ck
key network-interface internal-ipv6-prefix-length 528:ck,ck,ck
key network-interface ipv6-address 528:ck,ck,ck
key network-interface ipv6-aliases 578:ck,ck,ck
key network-interface ipv6-network-tier 528:ck,ck,ck
key network-interface ipv6-prefix-length 528:ck,ck,ck
key network-interface ipv6-public-ptr-domain 528:c,c,c
key network-interface nat64-eligible 578:,,c
key network-interface network 528:cbk,cbk,cbk
key network-interface network-attachment 528:ck,ck,ck
key network-interface network-tier 528:cbk,cbk,cbk
key network-interface nic-type 528:cbk,cbk,cbk
key network-interface no-address 528:cbk,cbk,cbk
key network-interface private-network-ip 528:ck,ck,ck
key network-interface queue-count 528:cb,cb,cb
key network-interface service-class-id 578:ck,ck,ck
key network-interface stack-type 528:cbk,cbk,cbk
key network-interface subnet 528:cbk,cbk,cbk
key network-interface vlan 528:,c,c 578:ck,ck,ck
key network-performance-configs total-egress-bandwidth-tier 528:cbk,cbk,cbk
key svsm-config snp-irq 528:,,cbk
key svsm-config tpm 528:,,cbk
command - access-approval
command - access-context-manager
command - active-directory
command - agent-identity
command - agent-registry
command - agentic-applications
command - ai
command - ai-platform
command - alloydb
command - alpha
command - anthos
command - api-gateway
command - api-registry
command - apigee
command - apihub
command - app
command - app-lifecycle-manager
command - app-optimize
command - apphub
command - artifacts
command - asset
command - assured
command - audit-manager
command - auth
command - authz-toolkit
command - backup-dr
command - batch
command - beta
command - beyondcorp
command - biglake
command - bigtable
command - billing
command - blockchain-node-engine
command - blockchain-validator
command - bms
command - bq
command - builds
command - cbrs-spectrum-access
command - certificate-manager
command - cheat-sheet
command - cloud-shell
command - cloudlocationfinder
command - cluster-director
command - code
command - colab
command - commerce-procurement
command - compliance-manager
command - components
command - composer
command - compute
command - config
command - container
command - data-catalog
command - data-fusion
command - database-migration
command - dataflow
command - datalineage
command - datapipelines
command - dataplex
command - dataproc
command - dataproc-gdc
command - datastore
command - datastream
command - deploy
command - deployment-manager
command - design-center
command - developer-connect
command - device-run
command - dialogflow
command - dlp
command - dns
command - docker
command - domains
command - edge-cache
command - edge-cloud
command - emulators
command - endpoints
command - error-reporting
command - essential-contacts
command - eventarc
command - fault-injection
command - fault-testing
command - feedback
command - filestore
command - firebase
command - firebase-data-connect
command - firestore
command - functions
command - gemini
command - gemini-cloud-assist
command - genomics
command - healthcare
command - help
command - iam
command - iap
command - identity
command - ids
command - immersive-stream
command - info
command - infra-manager
command - init
command - interactive
command - kms
command - lifesciences
command - logging
command - looker
command - lustre
command - managed-flink
command - managed-kafka
command - media
command - memcache
command - memorystore
command - meta
command - metastore
command - microservices
command - migration
command - ml
command - mldiagnostics
command - model-armor
command - monitoring
command - mps
command - netapp
command - network-connectivity
command - network-management
command - network-security
command - network-services
command - notebooks
command - number-registry
command - observability
command - oracle-database
command - orchestration-pipelines
command - org-policies
command - organizations
command - orglifecycle
command - pam
command - parallelstore
command - parametermanager
command - policy-intelligence
command - policy-troubleshoot
command - preview
command - privateca
command - projects
command - publicca
command - pubsub
command - quotas
command - recaptcha
command - recommender
command - redis
command - remote-build-execution
command - resource-config
command - resource-manager
command - run
command - runtime-config
command - saas-runtime
command - scc
command - scheduler
command - seclm
command - secrets
command - service-directory
command - service-extensions
command - service-health
command - services
command - source
command - source-manager
command - spanner
command - spectrum-access
command - sql
command - stacks
command - storage
command - survey
command - tasks
command - telco-automation
command - terraform
command - topic
command - trace
command - transcoder
command - transfer
command - unlock
command - vector-search
command - version
command - vmware
command - web-security-scanner
command - workbench
command - workflows
command - workload-identity
command - workspace-add-ons
command - workstations
command - zone-management
command compute accelerator-types
command compute addresses
command compute advice
command compute backend-buckets
command compute backend-services
command compute commitments
command compute composite-health-checks
command compute config-ssh
command compute connect-to-serial-port
command compute copy-files
command compute diagnose
command compute disk-settings
command compute disk-types
command compute disks
command compute external-vpn-gateways
command compute firewall-policies
command compute firewall-rules
command compute forwarding-rules
command compute future-reservations
command compute global-vm-extension-policies
command compute ha-controllers
command compute health-aggregation-policies
command compute health-checks
command compute health-sources
command compute hosts
command compute http-health-checks
command compute https-health-checks
command compute image-views
command compute images
command compute instance-groups
command compute instance-settings
command compute instance-templates
command compute instances
command compute instant-snapshot-groups
command compute instant-snapshots
command compute interconnects
command compute machine-images
command compute machine-types
command compute multi-migs
command compute network-attachments
command compute network-edge-security-services
command compute network-endpoint-groups
command compute network-firewall-policies
command compute network-policies
command compute network-profiles
command compute networks
command compute operations
command compute org-rollout-plans
command compute org-rollouts
command compute org-security-policies
command compute os-config
command compute os-login
command compute packet-mirrorings
command compute preview-features
command compute project-info
command compute project-views
command compute project-zonal-metadata
command compute public-advertised-prefixes
command compute public-delegated-prefixes
command compute queued-resources
command compute recoverable-snapshots
command compute regions
command compute reliability-risks
command compute reservations
command compute reset-windows-password
command compute resource-policies
command compute rollout-plans
command compute rollouts
command compute routers
command compute routes
command compute scp
command compute security-policies
command compute service-attachments
command compute shared-vpc
command compute sign-url
command compute snapshot-groups
command compute snapshot-recycle-bin-policy
command compute snapshot-settings
command compute snapshots
command compute sole-tenancy
command compute ssh
command compute ssl-certificates
command compute ssl-policies
command compute start-iap-tunnel
command compute storage-pool-types
command compute storage-pools
command compute target-grpc-proxies
command compute target-http-proxies
command compute target-https-proxies
command compute target-instances
command compute target-pools
command compute target-ssl-proxies
command compute target-tcp-proxies
command compute target-vpn-gateways
command compute tpus
command compute url-maps
command compute vpn-gateways
command compute vpn-tunnels
command compute zone-vm-extension-policies
command compute zones
command compute/instances add-access-config
command compute/instances add-iam-policy-binding
command compute/instances add-labels
command compute/instances add-metadata
command compute/instances add-partner-metadata
command compute/instances add-resource-policies
command compute/instances add-tags
command compute/instances attach-disk
command compute/instances bulk
command compute/instances config
command compute/instances create
command compute/instances create-with-container
command compute/instances delete
command compute/instances delete-access-config
command compute/instances describe
command compute/instances detach-disk
command compute/instances export
command compute/instances get-guest-attributes
command compute/instances get-iam-policy
command compute/instances get-screenshot
command compute/instances get-serial-port-output
command compute/instances get-shielded-identity
command compute/instances get-vm-extension-state
command compute/instances import
command compute/instances list
command compute/instances list-referrers
command compute/instances list-vm-extension-states
command compute/instances move
command compute/instances network-interfaces
command compute/instances ops-agents
command compute/instances os-inventory
command compute/instances patch-partner-metadata
command compute/instances perform-maintenance
command compute/instances remove-iam-policy-binding
command compute/instances remove-labels
command compute/instances remove-metadata
command compute/instances remove-partner-metadata
command compute/instances remove-resource-policies
command compute/instances remove-tags
command compute/instances report-host-as-faulty
command compute/instances reset
command compute/instances resume
command compute/instances send-diagnostic-interrupt
command compute/instances set-disk-auto-delete
command compute/instances set-iam-policy
command compute/instances set-machine-resources
command compute/instances set-machine-type
command compute/instances set-min-cpu-platform
command compute/instances set-name
command compute/instances set-scheduling
command compute/instances set-scopes
command compute/instances set-service-account
command compute/instances set-shielded-vm-integrity-policy
command compute/instances simulate-maintenance-event
command compute/instances start
command compute/instances stop
command compute/instances suspend
command compute/instances tail-serial-port-output
command compute/instances update
command compute/instances update-access-config
command compute/instances update-container
command compute/instances update-from-file
command compute/instances vulnerabilities
field confidentialInstanceConfig.confidentialParavisorConfig
field confidentialInstanceConfig.confidentialParavisorConfig.confidentialTpmType
field confidentialInstanceConfig.confidentialParavisorConfig.sevSnpIrqMode
field disks.initializeParams.guestOsFeatures
field disks.initializeParams.guestOsFeatures.type
field disks.initializeParams.multiWriter
field disks.initializeParams.sourceInstantSnapshot
field eraseWindowsVssSignature
field instanceFlexibilityPolicy 578
field localSsdEncryptionMode 578
field locationPolicy.zones 578
field locationPolicy.zones.zone 578
field networkInterfaces.accessConfigs.ipCollection
field networkInterfaces.aliasIpRanges.candidateSubnetworkRangeNames
field networkInterfaces.aliasIpv6Ranges 578
field networkInterfaces.aliasIpv6Ranges.candidateSubnetworkRangeNames
field networkInterfaces.aliasIpv6Ranges.ipCidrRange 578
field networkInterfaces.aliasIpv6Ranges.subnetworkRangeName 578
field networkInterfaces.enableVpcScopedDns 578
field networkInterfaces.igmpQuery 578
field networkInterfaces.ipv6AccessConfigs.ipCollection
field networkInterfaces.parentNicName 578
field networkInterfaces.serviceClassId 578
field networkInterfaces.vlan 578
field params.requestValidForDuration 578
field partnerMetadata
field postKeyRevocationActionType
field scheduling.exposeHostTopology
field scheduling.gracefulShutdown 578
field scheduling.gracefulShutdown.enabled 578
field scheduling.gracefulShutdown.maxDuration 578
field scheduling.maintenanceFreezeDurationHours
field scheduling.maintenanceInterval
field scheduling.preemptionNoticeDuration 578
field scheduling.protectionTier
field scheduling.skipGuestOsShutdown 578
field workloadIdentityConfig 578
field workloadIdentityConfig.identity 578
field workloadIdentityConfig.identityCertificateEnabled 578
field workloadIdentityConfig.identityType
"""
