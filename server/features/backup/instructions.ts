// Instructions for a restore, and a list of the backup's gaps: for the operator at the end of the command, and in the
// backup.

import { basename } from 'node:path'
import type { Manifest } from './manifest.ts'

interface Stores {
  databaseUrl?: string
  clickHouseUrls?: string[]
  uploadBucket?: { bucket: string }
}

/**
 * The commands for stores outside DATA_DIR, in their order, all of them before the backup. Rows
 * first: counters then miss batches that the backup has, and count them after the restore. Rows that are newer than the
 * backup have counted hits which the backup still has in its spool, and would count them twice.
 */
export function listBesides(
  { databaseUrl, clickHouseUrls: [clickHouseUrl] = [] }: Stores,
  dir: string,
): string[] {
  return [
    ...(databaseUrl ? [`pg_dump --format=custom --file=${dir}.pgdump "$DATABASE_URL"`] : []),
    ...(clickHouseUrl
      ? [`clickhouse-client --query "BACKUP DATABASE ${toDatabaseName(clickHouseUrl)} TO ${toArchive(dir)}"`]
      : []),
  ]
}

const toArchive = (dir: string) => `Disk('backups', '${basename(dir)}.zip')`
const toDatabaseName = (url: string) => new URL(url).pathname.slice(1) || 'default'

/** Ids that the server gave out after the backup must not be used again. */
const SKIP_IDS_IN_POSTGRES = `psql "$DATABASE_URL" --command "select setval(format('%I.%I', schemaname, sequencename)::regclass, coalesce(last_value, 0) + 1000000) from pg_sequences where schemaname = current_schema()"`

export function writeInstructions(
  { version, takenAt, rows, hits, besides }: Manifest,
  { clickHouseUrls: [clickHouseUrl] = [], uploadBucket }: Stores,
  dir: string,
): string {
  const isWhole = rows.engine === 'sqlite' && hits.engine === 'duckdb'
  return [
    `A backup of Towpath ${version}, as of ${takenAt}.`,
    'It has the secret of the installation, and personal data: keep it where only you can read it.',
    '',
    ...(isWhole
      ? ['It has everything of the installation but its settings (the environment).']
      : [
          'Everything except the settings (the environment) and the data in stores outside DATA_DIR. For a complete backup,',
          'these commands run in this order, each time, and "npx towpath backup" after them:',
          ...besides.map((command) => `  ${command}`),
        ]),
    ...(uploadBucket
      ? [
          `The files that people sent with forms are not in it: they are in the bucket "${uploadBucket.bucket}" (UPLOADS_S3_URL).`,
          'Switch on versions in the bucket, or copy it with the tools of its provider, after each backup.',
        ]
      : []),
    '',
    'To restore: install this release or a later one, set the same settings with an empty DATA_DIR, and run',
    ...(rows.engine === 'postgres'
      ? [`  pg_restore --no-owner --dbname="$DATABASE_URL" ${dir}.pgdump`, `  ${SKIP_IDS_IN_POSTGRES}`]
      : []),
    ...(clickHouseUrl
      ? [
          `  clickhouse-client --query "RESTORE DATABASE ${toDatabaseName(clickHouseUrl)} FROM ${toArchive(dir)}"`,
        ]
      : []),
    `  npx towpath restore ${dir}`,
    'Then start the server. Stop the old server first, if it still runs: both would send the same notifications.',
    '',
    'docs/backup.md has the steps in full. "sha256sum --check SHA256SUMS" checks the files without Towpath.',
    '',
  ].join('\n')
}
