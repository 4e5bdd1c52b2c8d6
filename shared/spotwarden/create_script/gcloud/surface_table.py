"""What gcloud's create commands take, by the version of the SDK in which it came or changed.

Written by infra/gcloud/write_surface.py out of gcloud's own parser; a change by hand is lost.
VERSION:V1,BETA,ALPHA: c is create, b is bulk create, k is create-with-container; t, g and p make a
template, a managed group and a workload policy; preview has what v1 has.
A field without a version stands in the discovery document only.
"""

TABLE = """\
versions 528 578
flag accelerator 528:cbkt,cbkt,cbkt
flag accelerator-topology 528:p,p,p
flag accelerator-topology-mode 578:p,p,p
flag access-token-file 528:cbktgp,cbktgp,cbktgp
flag account 528:cbktgp,cbktgp,cbktgp
flag action-on-vm-failed-health-check 528:,g,g 578:g,g,g
flag address 528:ckt,ckt,ckt
flag async 528:cb,cb,cb negatable default=false
flag authority-selector 528:cbktgp,cbktgp,cbktgp
flag authorization-token-file 528:cbktgp,cbktgp,cbktgp
flag availability-domain 528:c,c,c
flag base-instance-name 528:g,g,g
flag billing-project 528:cbktgp,cbktgp,cbktgp
flag boot-disk-auto-delete 528:cbkt,cbkt,cbkt negatable default=true
flag boot-disk-device-name 528:cbkt,cbkt,cbkt
flag boot-disk-interface 528:cbkt,cbkt,cbkt
flag boot-disk-kms-key 528:cbt,cbt,cbt
flag boot-disk-kms-keyring 528:cbt,cbt,cbt
flag boot-disk-kms-location 528:cbt,cbt,cbt
flag boot-disk-kms-project 528:cbt,cbt,cbt
flag boot-disk-provisioned-iops 528:cbkt,cbkt,cbkt
flag boot-disk-provisioned-throughput 528:cbkt,cbkt,cbkt
flag boot-disk-size 528:cbkt,cbkt,cbkt
flag boot-disk-type 528:cbkt,cbkt,cbkt
flag can-ip-forward 528:cbkt,cbkt,cbkt negatable default=false
flag confidential-compute 528:cbkt,cbkt,cbkt negatable
flag confidential-compute-type 528:cbkt,cbkt,cbkt
flag configuration 528:cbktgp,cbktgp,cbktgp
flag configure-disk 528:t,t,t
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
flag create-disk 528:cbkt,cbkt,cbkt
flag credential-file-override 528:cbktgp,cbktgp,cbktgp
flag csek-key-file 528:c,c,c
flag current-cpus 578:,,c
flag custom-cpu 528:cbkt,cbkt,cbkt
flag custom-extensions 528:cbkt,cbkt,cbkt negatable default=false
flag custom-memory 528:cbkt,cbkt,cbkt
flag custom-vm-type 528:cbkt,cbkt,cbkt
flag default-action-on-vm-failure 528:g,g,g
flag deletion-protection 528:c,c,c negatable default=false
flag description 528:cbktgp,cbktgp,cbktgp
flag discard-local-ssds-at-termination-timestamp 528:cbkt,cbkt,cbkt
flag disk 528:cbkt,cbkt,cbkt
flag enable-display-device 528:c,cbt,cbt negatable default=false
flag enable-nested-virtualization 528:cbkt,cbkt,cbkt negatable
flag enable-uefi-networking 528:cbt,cbt,cbt negatable
flag enable-watchdog-timer 528:,,cbt negatable
flag erase-windows-vss-signature 528:cb,cb,cb negatable default=false
flag external-ipv6-address 528:ckt,ckt,ckt
flag external-ipv6-prefix-length 528:ckt,ckt,ckt
flag flatten 528:cbktgp,cbktgp,cbktgp
flag force-update-on-repair 528:g,g,g negatable
flag format 528:cbktgp,cbktgp,cbktgp
flag graceful-shutdown 528:,cbkt,cbkt
flag graceful-shutdown-max-duration 528:,cbkt,cbkt
flag health-check 528:g,g,g
flag host-error-timeout-seconds 528:cbkt,cbkt,cbkt
flag hostname 528:c,c,c
flag http-health-check 528:g,g,g
flag http-timeout 528:cbktgp,cbktgp,cbktgp
flag https-health-check 528:g,g,g
flag identity 578:cbkt,cbkt,cbkt
flag identity-certificate 578:cbkt,cbkt,cbkt negatable
flag image 528:cbkt,cbkt,cbkt
flag image-family 528:cbkt,cbkt,cbkt
flag image-family-scope 528:c,c,c
flag image-project 528:cbkt,cbkt,cbkt
flag impersonate-service-account 528:cbktgp,cbktgp,cbktgp
flag initial-delay 528:g,g,g
flag instance-flexibility-policy 578:,g,g
flag instance-kms-key 528:c,c,c
flag instance-kms-keyring 528:c,c,c
flag instance-kms-location 528:c,c,c
flag instance-kms-project 528:c,c,c
flag instance-redistribution-type 528:g,g,g
flag instance-selection 528:g,g,g 578:bg,bg,bg
flag instance-selection-machine-types 528:g,g,g 578:bg,bg,bg
flag instance-template-region 528:t,t,t
flag instance-termination-action 528:cbkt,cbkt,cbkt
flag internal-ipv6-address 528:ckt,ckt,ckt
flag internal-ipv6-prefix-length 528:ckt,ckt,ckt
flag ipv6-address 528:,,ckt
flag ipv6-network-tier 528:ckt,ckt,ckt
flag ipv6-prefix-length 528:,,ckt
flag ipv6-public-ptr-domain 528:c,c,c
flag key-revocation-action-type 528:ct,ct,ct
flag labels 528:cbkt,cbkt,cbkt
flag list-managed-instances-results 528:g,g,g
flag local-nvdimm 528:,,ckt
flag local-ssd 528:cbt,cbkt,cbkt
flag local-ssd-encryption-mode 578:c,c,c
flag local-ssd-recovery-timeout 528:cbkt,cbkt,cbkt
flag location-hint 528:cbt,cbt,cbt
flag location-policy 528:b,b,b
flag log-http 528:cbktgp,cbktgp,cbktgp negatable
flag machine-type 528:cbkt,cbkt,cbkt
flag maintenance-freeze-duration 528:,,c
flag maintenance-interval 528:,t,cbt
flag maintenance-policy 528:cbkt,cbkt,cbkt
flag max-count-per-zone 528:b,b,b
flag max-run-duration 528:cbkt,cbkt,cbkt
flag max-topology-distance 528:p,p,p
flag mesh 528:,t,t
flag metadata 528:cbkt,cbkt,cbkt
flag metadata-from-file 528:cbkt,cbkt,cbkt
flag min-count 528:b,b,b
flag min-cpu-platform 528:cbkt,cbkt,cbkt
flag min-node-cpu 528:cbt,cbt,cbt
flag name-pattern 528:b,b,b
flag network 528:cbkt,cbkt,cbkt
flag network-interface 528:cbkt,cbkt,cbkt
flag network-interface-from-file 528:,,c
flag network-interface-from-json-string 528:,,c
flag network-performance-configs 528:cbkt,cbkt,cbkt
flag network-tier 528:cbkt,cbkt,cbkt
flag no-address 528:cbkt,cbkt,cbkt default=false
flag no-public-dns 528:b,b,cbk default=false
flag no-public-ptr 528:ck,ck,ck default=false
flag no-public-ptr-domain 528:ck,ck,ck default=false
flag no-scopes 528:cbkt,cbkt,cbkt default=false
flag no-service-account 528:cbkt,cbkt,cbkt default=false
flag node 528:ct,ct,ct
flag node-affinity-file 528:ct,ct,ct
flag node-group 528:ct,ct,ct
flag node-project 528:c,c,c
flag numa-node-count 528:,,cbkt
flag on-host-maintenance 528:b,b,cbkt
flag on-repair-allow-changing-zone 578:g,g,g
flag partner-metadata 528:,ct,ct
flag partner-metadata-from-file 528:,ct,ct
flag per-instance-hostnames 528:,b,b
flag performance-monitoring-unit 528:cbt,cbt,cbt
flag post-key-revocation-action-type 528:b,cbt,cbt
flag predefined-names 528:b,b,b
flag preemptible 528:cbkt,cbkt,cbkt negatable default=false
flag preemption-notice-duration 578:,cbt,cbt
flag private-ipv6-google-access-type 528:ckt,ckt,ckt
flag private-network-ip 528:ckt,ckt,ckt
flag project 528:cbktgp,cbktgp,cbktgp
flag provisioning-model 528:cbkt,cbkt,cbkt
flag public-dns 528:b,b,cbk default=false
flag public-ptr 528:ck,ck,ck default=false
flag public-ptr-domain 528:ck,ck,ck
flag quiet 528:cbktgp,cbktgp,cbktgp
flag region 528:btgp,btgp,btgp
flag request-valid-for-duration 578:ck,ck,ck
flag require-csek-key-create 528:c,c,c negatable default=true
flag reservation 528:cbkt,cbkt,cbkt
flag reservation-affinity 528:cbkt,cbkt,cbkt default="any"
flag resource-manager-tags 528:cbt,cbtg,cbtg
flag resource-policies 528:cbkt,cbkt,cbkt
flag restart-on-failure 528:cbkt,cbkt,cbkt negatable default=true
flag scopes 528:cbkt,cbkt,cbkt
flag secure-tags 528:,,cb
flag service-account 528:cbkt,cbkt,cbkt
flag service-proxy 528:t,t,t
flag service-proxy-agent-location 528:t,t,t
flag service-proxy-labels 528:t,t,t
flag service-proxy-xds-version 528:t,t,t
flag shielded-integrity-monitoring 528:cbkt,cbkt,cbkt negatable
flag shielded-secure-boot 528:cbkt,cbkt,cbkt negatable
flag shielded-vtpm 528:cbkt,cbkt,cbkt negatable
flag size 528:g,g,g
flag skip-guest-os-shutdown 578:cbkt,cbkt,cbkt negatable
flag source-instance 528:t,t,t
flag source-instance-template 528:cbk,cbk,cbk
flag source-instance-zone 528:t,t,t
flag source-instant-snapshot 528:,,c
flag source-machine-image 528:c,c,c
flag source-machine-image-csek-key-file 528:c,c,c
flag source-snapshot 528:cb,cb,cb
flag source-snapshot-region 528:,c,c 578:,c,cb
flag stack-type 528:cbkt,cbkt,cbkt
flag standby-policy-initial-delay 528:g,g,g
flag standby-policy-mode 528:g,g,g
flag stateful-disk 528:g,g,g
flag stateful-external-ip 528:g,g,g
flag stateful-internal-ip 528:g,g,g
flag stopped-size 528:g,g,g
flag subnet 528:cbkt,cbkt,cbkt
flag subnet-region 528:,,t
flag suspended-size 528:g,g,g
flag svsm-config 528:,,cbkt
flag tags 528:cbkt,cbkt,cbkt
flag target-distribution-shape 528:bg,bg,bg
flag target-pool 528:g,g,g
flag target-size-policy-mode 528:,,g 578:g,g,g
flag template 528:g,g,g
flag termination-time 528:cbkt,cbkt,cbkt
flag threads-per-core 528:cbkt,cbkt,cbkt
flag trace-token 528:cbktgp,cbktgp,cbktgp
flag turbo-mode 528:cbt,cbt,cbt
flag type 528:p,p,p
flag universe-domain 528:cbktgp,cbktgp,cbktgp
flag update-policy-max-surge 528:g,g,g
flag update-policy-max-unavailable 528:g,g,g
flag update-policy-min-ready 528:,g,g
flag update-policy-minimal-action 528:g,g,g
flag update-policy-most-disruptive-action 528:g,g,g
flag update-policy-replacement-method 528:g,g,g
flag update-policy-type 528:g,g,g
flag user-output-enabled 528:cbktgp,cbktgp,cbktgp negatable
flag verbosity 528:cbktgp,cbktgp,cbktgp default="warning"
flag visible-core-count 528:cbkt,cbkt,cbkt
flag vsock-mode 578:,,cbkt
flag workload-policy 528:g,g,g
flag zone 528:cbkg,cbkg,cbkg
flag zones 528:g,g,g
choice accelerator-topology-mode AUTO_CONNECT 578:p,p,p
choice accelerator-topology-mode PROVISION_ONLY 578:p,p,p
choice action-on-vm-failed-health-check default-action 528:,g,g 578:g,g,g
choice action-on-vm-failed-health-check do-nothing 528:,g,g 578:g,g,g
choice action-on-vm-failed-health-check repair 528:,g,g 578:g,g,g
choice confidential-compute-type SEV 528:cbkt,cbkt,cbkt
choice confidential-compute-type SEV_SNP 528:cbkt,cbkt,cbkt
choice confidential-compute-type TDX 528:cbkt,cbkt,cbkt
choice container-restart-policy always 528:k,k,k
choice container-restart-policy never 528:k,k,k
choice container-restart-policy on-failure 528:k,k,k
choice default-action-on-vm-failure delete 528:,,g
choice default-action-on-vm-failure do-nothing 528:g,g,g
choice default-action-on-vm-failure repair 528:g,g,g
choice image-family-scope global 528:c,c,c
choice image-family-scope zonal 528:c,c,c
choice instance-redistribution-type none 528:g,g,g
choice instance-redistribution-type proactive 528:g,g,g
choice instance-termination-action DELETE 528:cbkt,cbkt,cbkt
choice instance-termination-action STOP 528:cbkt,cbkt,cbkt
choice ipv6-network-tier PREMIUM 528:ckt,ckt,ckt
choice ipv6-network-tier STANDARD 578:,,ct
choice key-revocation-action-type none 528:ct,ct,ct
choice key-revocation-action-type stop 528:ct,ct,ct
choice list-managed-instances-results pageless 528:g,g,g
choice list-managed-instances-results paginated 528:g,g,g
choice local-ssd-encryption-mode EPHEMERAL_KEY_ENCRYPTION 578:c,c,c
choice local-ssd-encryption-mode STANDARD_ENCRYPTION 578:c,c,c
choice maintenance-interval PERIODIC 528:,t,cbt
choice maintenance-interval RECURRENT 528:,,cb
choice maintenance-policy MIGRATE 528:cbkt,cbkt,cbkt
choice maintenance-policy TERMINATE 528:cbkt,cbkt,cbkt
choice max-topology-distance BLOCK 528:p,p,p
choice max-topology-distance CLUSTER 528:p,p,p
choice max-topology-distance SUBBLOCK 528:p,p,p
choice on-host-maintenance MIGRATE 528:b,b,cbkt
choice on-host-maintenance TERMINATE 528:b,b,cbkt
choice on-repair-allow-changing-zone no 578:g,g,g
choice on-repair-allow-changing-zone yes 578:g,g,g
choice performance-monitoring-unit architectural 528:cbt,cbt,cbt
choice performance-monitoring-unit enhanced 528:cbt,cbt,cbt
choice performance-monitoring-unit standard 528:cbt,cbt,cbt
choice post-key-revocation-action-type noop 528:b,cbt,cbt
choice post-key-revocation-action-type shutdown 528:b,cbt,cbt
choice private-ipv6-google-access-type enable-bidirectional-access 528:ckt,ckt,ckt
choice private-ipv6-google-access-type enable-outbound-vm-access 528:ckt,ckt,ckt
choice private-ipv6-google-access-type inherit-subnetwork 528:ckt,ckt,ckt
choice provisioning-model FLEX_START 528:,t,ckt 578:ckt,ckt,ckt
choice provisioning-model RESERVATION_BOUND 528:cbkt,cbkt,cbkt
choice provisioning-model SPOT 528:cbkt,cbkt,cbkt
choice provisioning-model STANDARD 528:cbkt,cbkt,cbkt
choice reservation-affinity any 528:cbkt,cbkt,cbkt
choice reservation-affinity any-reservation-then-fail 578:,cbkt,cbkt
choice reservation-affinity none 528:cbkt,cbkt,cbkt
choice reservation-affinity specific 528:cbkt,cbkt,cbkt
choice reservation-affinity specific-then-any-reservation 528:,cbkt,cbkt
choice reservation-affinity specific-then-no-reservation 528:,cbkt,cbkt
choice stack-type IPV4_IPV6 528:cbkt,cbkt,cbkt
choice stack-type IPV4_ONLY 528:cbkt,cbkt,cbkt
choice stack-type IPV6_ONLY 528:cbkt,cbkt,cbkt
choice standby-policy-mode manual 528:g,g,g
choice standby-policy-mode scale-out-pool 528:g,g,g
choice target-distribution-shape ANY 528:b,b,b
choice target-distribution-shape ANY_SINGLE_ZONE 528:b,b,b
choice target-distribution-shape BALANCED 528:b,b,b
choice target-distribution-shape any 528:g,g,g
choice target-distribution-shape any-single-zone 528:g,g,g
choice target-distribution-shape balanced 528:g,g,g
choice target-distribution-shape even 528:g,g,g
choice target-size-policy-mode bulk 528:,,g 578:g,g,g
choice target-size-policy-mode individual 528:,,g 578:g,g,g
choice type HIGH_AVAILABILITY 528:p,p,p
choice type HIGH_THROUGHPUT 528:p,p,p
choice update-policy-minimal-action none 528:g,g,g
choice update-policy-minimal-action refresh 528:g,g,g
choice update-policy-minimal-action replace 528:g,g,g
choice update-policy-minimal-action restart 528:g,g,g
choice update-policy-most-disruptive-action none 528:g,g,g
choice update-policy-most-disruptive-action refresh 528:g,g,g
choice update-policy-most-disruptive-action replace 528:g,g,g
choice update-policy-most-disruptive-action restart 528:g,g,g
choice update-policy-replacement-method recreate 528:g,g,g
choice update-policy-replacement-method substitute 528:g,g,g
choice update-policy-type opportunistic 528:g,g,g
choice update-policy-type proactive 528:g,g,g
choice verbosity critical 528:cbktgp,cbktgp,cbktgp
choice verbosity debug 528:cbktgp,cbktgp,cbktgp
choice verbosity error 528:cbktgp,cbktgp,cbktgp
choice verbosity info 528:cbktgp,cbktgp,cbktgp
choice verbosity none 528:cbktgp,cbktgp,cbktgp
choice verbosity warning 528:cbktgp,cbktgp,cbktgp
choice vsock-mode disabled 578:,,cbkt
choice vsock-mode enabled 578:,,cbkt
key accelerator count 528:cbkt,cbkt,cbkt
key accelerator type 528:cbkt,cbkt,cbkt
key configure-disk auto-delete 528:t,t,t
key configure-disk custom-image 528:t,t,t
key configure-disk device-name 528:t,t,t
key configure-disk instantiate-from 528:t,t,t
key container-mount-disk mode 528:k,k,k
key container-mount-disk mount-path 528:k,k,k
key container-mount-disk name 528:k,k,k
key container-mount-disk partition 528:k,k,k
key container-mount-host-path host-path 528:k,k,k
key container-mount-host-path mode 528:k,k,k
key container-mount-host-path mount-path 528:k,k,k
key container-mount-tmpfs mount-path 528:k,k,k
key create-disk architecture 528:cbkt,cbkt,cbkt
key create-disk auto-delete 528:cbkt,cbkt,cbkt
key create-disk boot 528:cbt,cbt,cbt
key create-disk confidential-compute 528:c,c,c
key create-disk description 528:cbkt,cbkt,cbkt
key create-disk device-name 528:cbkt,cbkt,cbkt
key create-disk disk-resource-policy 528:cbkt,cbkt,cbkt
key create-disk image 528:cbkt,cbkt,cbkt
key create-disk image-csek-key-file 528:b,b,cb
key create-disk image-family 528:cbkt,cbkt,cbkt
key create-disk image-project 528:cbkt,cbkt,cbkt
key create-disk interface 528:cbkt,cbkt,cbkt
key create-disk kms-key 528:cbt,cbt,cbt
key create-disk kms-keyring 528:cbt,cbt,cbt
key create-disk kms-location 528:cbt,cbt,cbt
key create-disk kms-project 528:cbt,cbt,cbt
key create-disk labels 528:cbkt,cbkt,cbkt
key create-disk mode 528:cbkt,cbkt,cbkt
key create-disk multi-writer 528:,ckt,ckt
key create-disk name 528:ckt,ckt,ckt
key create-disk on-update-action 578:cbkt,cbkt,cbkt
key create-disk provisioned-iops 528:cbkt,cbkt,cbkt
key create-disk provisioned-throughput 528:cbkt,cbkt,cbkt
key create-disk replica-zones 528:cbkt,cbkt,cbkt
key create-disk size 528:cbkt,cbkt,cbkt
key create-disk source-instant-snapshot 528:,,c
key create-disk source-snapshot 528:cb,cb,cb
key create-disk source-snapshot-csek-key-file 528:,,c
key create-disk source-snapshot-region 528:,c,c 578:,c,cb
key create-disk storage-pool 528:cbkt,cbkt,cbkt
key create-disk type 528:cbkt,cbkt,cbkt
key disk auto-delete 528:ckt,ckt,ckt
key disk boot 528:cbkt,cbkt,cbkt
key disk device-name 528:cbkt,cbkt,cbkt
key disk force-attach 528:ck,ck,ck
key disk interface 528:ckt,ckt,ckt
key disk mode 528:ckt,ckt,ckt
key disk name 528:cbkt,cbkt,cbkt
key disk scope 528:cbk,cbk,cbk
key instance-flexibility-policy instanceSelections 578:,g,g
key local-nvdimm size 528:,,ckt
key local-ssd device-name 528:cbt,cbkt,cbkt
key local-ssd interface 528:cbt,cbkt,cbkt
key local-ssd size 528:cbt,cbt,cbkt
key mesh gke-cluster 528:,t,t
key mesh workload 528:,t,t
key network-interface address 528:ckt,ckt,ckt
key network-interface aliases 528:ckt,ckt,ckt
key network-interface dns64-eligible 578:,t,ct
key network-interface enable-vpc-scoped-dns 578:ckt,ckt,ckt
key network-interface external-ipv6-address 528:ckt,ckt,ckt
key network-interface external-ipv6-prefix-length 528:ckt,ckt,ckt
key network-interface igmp-query 528:,cb,cbt 578:c,c,cbt
key network-interface internal-ipv6-address 528:ckt,ckt,ckt
key network-interface internal-ipv6-prefix-length 528:ckt,ckt,ckt
key network-interface ipv6-address 528:ckt,ckt,ckt
key network-interface ipv6-aliases 578:ckt,ckt,ckt
key network-interface ipv6-network-tier 528:ckt,ckt,ckt
key network-interface ipv6-prefix-length 528:ckt,ckt,ckt
key network-interface ipv6-public-ptr-domain 528:ct,ct,ct
key network-interface nat64-eligible 578:,t,ct
key network-interface network 528:cbkt,cbkt,cbkt
key network-interface network-attachment 528:ckt,ckt,ckt
key network-interface network-tier 528:cbkt,cbkt,cbkt
key network-interface nic-type 528:cbkt,cbkt,cbkt
key network-interface no-address 528:cbkt,cbkt,cbkt
key network-interface private-network-ip 528:ckt,ckt,ckt
key network-interface queue-count 528:cbt,cbt,cbt
key network-interface service-class-id 578:ckt,ckt,ckt
key network-interface stack-type 528:cbkt,cbkt,cbkt
key network-interface subnet 528:cbkt,cbkt,cbkt
key network-interface vlan 528:,ct,ct 578:ckt,ckt,ckt
key network-performance-configs total-egress-bandwidth-tier 528:cbkt,cbkt,cbkt
key service-proxy access-log 528:t,t,t
key service-proxy enabled 528:t,t,t
key service-proxy exclude-outbound-ip-ranges 528:,t,t
key service-proxy exclude-outbound-port-ranges 528:,t,t
key service-proxy intercept-all-outbound-traffic 528:,t,t
key service-proxy intercept-dns 528:,,t
key service-proxy mesh 528:,t,t
key service-proxy network 528:t,t,t
key service-proxy project-number 528:,t,t
key service-proxy proxy-port 528:t,t,t
key service-proxy scope 528:,t,t
key service-proxy serving-ports 528:t,t,t
key service-proxy source 528:,,t
key service-proxy tracing 528:t,t,t
key service-proxy use-regional-control-plane 578:t,t,t
key stateful-disk auto-delete 528:g,g,g
key stateful-disk device-name 528:g,g,g
key stateful-external-ip auto-delete 528:g,g,g
key stateful-external-ip enabled 528:g,g,g
key stateful-external-ip interface-name 528:g,g,g
key stateful-internal-ip auto-delete 528:g,g,g
key stateful-internal-ip enabled 528:g,g,g
key stateful-internal-ip interface-name 528:g,g,g
key svsm-config snp-irq 528:,,cbkt
key svsm-config tpm 528:,,cbkt
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
