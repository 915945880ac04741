#!/bin/sh
# Builds Signpost from the sources in the current directory, and copies the content of the image into the given directory: the package as npm would
# publish it, and its dependencies without those for building and testing and without an embedded PostgreSQL. Changes node_modules.
set -eu
image=$1

npm ci --include=dev --ignore-scripts --no-audit --no-fund
npm run build

mkdir -p "$image"
package=$(npm pack --ignore-scripts --silent --pack-destination "$image")
tar -xzf "$image/$package" --strip-components=1 -C "$image"
rm "$image/$package"

npm prune --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund
cp -R node_modules "$image/"
# Deletes npm's links: to commands, which are not used there, and to packages of this repository, which are not there.
find "$image/node_modules" -type l -delete
find "$image/node_modules" -type d -empty -delete
# Deletes files for compilers, debuggers and people, nearly half of the total; licences stay.
find "$image/node_modules" -type f \( -name '*.map' -o -name '*.ts' -o -name '*.mts' -o -name '*.cts' -o -iname '*.md' \) \
  ! -iname 'licen[cs]e*' ! -iname 'notice*' ! -iname 'copying*' -delete
