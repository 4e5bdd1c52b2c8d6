#!/bin/bash
bash parts/one.sh first
export TYPE=e2-small
chmod +x parts/one.sh
./parts/one.sh second
