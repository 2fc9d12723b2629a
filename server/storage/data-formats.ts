// Writes the format numbers of a data directory to formats.json, so that an older release refuses the directory before it
// changes a file. Rows and ClickHouse have their own versions.

import { join } from 'node:path'
import { describeError, log } from '../lib/log.ts'
import { renameDurably, writeDurably } from './write-durably.ts'

/** The number of each format. A release can raise a number, must read all lower ones, and never lowers a number. */
export type DataFormats = Record<string, number>

interface FormatsFile {
  /** The newest release that has started here. */
  release: string
  formats: DataFormats
}

export const toFormatsPath = (dataDir: string) => join(dataDir, 'formats.json')

/** @throws a sentence for the operator, when a newer release has written the directory */
export async function requireKnownFormats(dataDir: string, known: DataFormats): Promise<void> {
  const file = await readFormats(dataDir)
  const newer = Object.entries(file?.formats ?? {}).filter(([name, number]) => number > (known[name] ?? 0))
  if (!file || newer.length === 0) return
  const list = newer.map(([name, number]) => `${name} ${number}`).join(', ')
  throw new Error(
    `The files in ${dataDir} were made by Towpath ${file.release} (formats: ${list}), and this version is older. Start ` +
      'that version, or restore a backup of this version.',
  )
}

/** Call this before the first file is written in a format of this release. */
export async function writeFormats(dataDir: string, { release, formats }: FormatsFile): Promise<void> {
  const before = await readFormats(dataDir)
  const text = `${JSON.stringify({ release, formats: { ...before?.formats, ...formats } })}\n`
  if (before && text === `${JSON.stringify(before)}\n`) return
  const path = toFormatsPath(dataDir)
  try {
    await writeDurably(`${path}.half`, (file) => file.writeFile(text))
    await renameDurably(`${path}.half`, path)
  } catch (error) {
    // A full disk must not stop redirects.
    log.warn('formats_not_written', { path, ...describeError(error) })
  }
}

async function readFormats(dataDir: string): Promise<FormatsFile | undefined> {
  const path = toFormatsPath(dataDir)
  const file = Bun.file(path)
  if (!(await file.exists())) return undefined
  const content = await file.json().catch(() => undefined)
  if (typeof content?.release === 'string' && typeof content.formats === 'object') return content
  throw new Error(
    `${path} cannot be read: a newer version of Towpath has written it, or it is damaged. Start that version, or delete ` +
      'the file if no newer version has run here.',
  )
}
