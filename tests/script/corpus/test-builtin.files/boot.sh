echo boot
