#!/bin/sh
# SPDX-License-Identifier: MIT
# Make ./configure from configure.ac.
cd "$(dirname "$0")" && exec autoreconf --install --force --warnings=all "$@"
