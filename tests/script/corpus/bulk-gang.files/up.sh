#!/bin/bash
echo up
