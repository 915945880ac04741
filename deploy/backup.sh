#!/bin/sh
# sh backup.sh DATA BACKUPS: backs up the database in the variables of PostgreSQL (PGHOST, PGUSER, …) and the directory DATA into a new directory of
# BACKUPS, and deletes backups that are older than BACKUP_DAYS days. To restore:
#   pg_restore --no-owner --dbname=signpost BACKUP/database.dump      into an empty database
#   tar -xzf BACKUP/data.tar.gz -C DATA
#   signpost restore                                                  notifies other services before the roles start
set -eu
umask 077
data=$1 backups=$2
name=$(date -u +%Y-%m-%dT%H%M%SZ)

# A backup gets its final name when it is complete.
rm -rf "$backups"/*.part
mkdir "$backups/$name.part"
pg_dump --format=custom --file="$backups/$name.part/database.dump"
tar -czf "$backups/$name.part/data.tar.gz" -C "$data" .
mv "$backups/$name.part" "$backups/$name"
find "$backups" -mindepth 1 -maxdepth 1 -type d -mtime "+${BACKUP_DAYS:-14}" -exec rm -rf {} +
echo "backup: $backups/$name"
