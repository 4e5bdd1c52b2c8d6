#!/bin/bash
. ./lib/common.sh prod
create_box "$PREFIX-one"
create_box "$PREFIX-two" --no-address
