// The manifest of a backup: its source, its contents, and the SHA-256 of each file. SHA256SUMS repeats the sums, and
// has that of the manifest, so a damaged manifest is found as well.

import { lstat, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { parseJson } from '../../lib/formats/parse-json.ts'
import { type FileDigest, hashText } from './copy-file.ts'
import { MANIFEST, SUMS } from './places.ts'

/** Rises when older releases can no longer restore the backup. */
export const FORMAT = 1

/** Names below the backup. None of them is `..`, which would lead out of it, and none has a control character. */
const FILE_PATH = /^(?!(?:.*\/)?\.\.?(?:\/|$))[^/\\\p{Cc}]+(?:\/[^/\\\p{Cc}]+)*$/u

const BackupFile = z.object({
  path: z.string().regex(FILE_PATH),
  bytes: z.number(),
  sha256: z.string(),
  /** The bytes are shared with the previous backup. */
  linked: z.boolean().optional(),
})
export type BackupFile = z.infer<typeof BackupFile>

const Manifest = z.object({
  format: z.number(),
  /** The release that made the backup. */
  version: z.string(),
  /** Every row that was committed before this moment is in the backup, and every hit that was answered before it. */
  takenAt: z.iso.datetime(),
  finishedAt: z.iso.datetime(),
  /** The nodes that have hits in it. */
  nodes: z.array(z.string()),
  rows: z.discriminatedUnion('engine', [
    z.object({
      engine: z.literal('sqlite'),
      newestMigration: z.string(),
      counts: z.record(z.string(), z.number()),
    }),
    /** The rows are not in the backup. */
    z.object({ engine: z.literal('postgres') }),
  ]),
  hits: z.object({ engine: z.enum(['duckdb', 'clickhouse']), batches: z.number() }),
  /** The backup that files are shared with. */
  since: z.string().optional(),
  /** Commands that back up everything outside this backup. */
  besides: z.array(z.string()),
  files: z.array(BackupFile),
})
export type Manifest = z.infer<typeof Manifest>

/** A backup that cannot be used. The message is for the operator. */
export class BackupProblem extends Error {}

export function writeSums(files: readonly (FileDigest & { path: string })[]): string {
  const lines = files.map(({ path, sha256 }) => `${sha256}  ${path}\n`)
  return lines.join('')
}

export const toManifestText = (manifest: Manifest) => `${JSON.stringify(manifest, null, 2)}\n`

/** @throws BackupProblem when it is no backup, a damaged one, or one of a newer release */
export async function readManifest(backup: string): Promise<Manifest> {
  const text = await readText(backup, MANIFEST)
  const json = parseJson(text)
  const format = typeof json === 'object' && json !== null && 'format' in json ? json.format : undefined
  if (typeof format === 'number' && format > FORMAT)
    throw new BackupProblem(
      `The backup ${backup} has format ${format}, and this release reads formats up to ${FORMAT}. Restore it with the ` +
        'release that made it, or a later one.',
    )
  const parsed = Manifest.safeParse(json)
  const sums = await readText(backup, SUMS)
  if (!parsed.success || sums !== writeSums([...parsed.data.files, { path: MANIFEST, ...hashText(text) }]))
    throw new BackupProblem(`The backup ${backup} is damaged: ${MANIFEST} and ${SUMS} do not fit together.`)
  return parsed.data
}

async function readText(backup: string, name: string): Promise<string> {
  try {
    const path = join(backup, name)
    if (!(await lstat(path)).isFile()) throw new Error(`${name} is a link, or no file`)
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw new BackupProblem(`${backup} is not a complete backup: its ${name} cannot be read.`, { cause })
  }
}
