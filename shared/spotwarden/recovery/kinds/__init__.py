"""What kind of VM a job may become: machine types, provisioning, prices, and its limits of time and money."""
