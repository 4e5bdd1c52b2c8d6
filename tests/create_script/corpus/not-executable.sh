#!/bin/bash
./parts/one.sh first
