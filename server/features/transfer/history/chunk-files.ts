// The files of chunks in `incoming`. Until its row is stored, a chunk has a name that the hit worker ignores; then a rename
// makes it visible.

import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { syncToDisk, writeDurably } from '../../../storage/write-durably.ts'
import { toIncomingPath } from '../../hits/batches/hit-import.ts'

const NAME = /^import-(\d+)-(\d+)\.chunk$/
const toChunkName = (importId: number, number: number) =>
  `import-${importId}-${String(number).padStart(6, '0')}`
const toHiddenPath = (dataDir: string, importId: number, number: number) =>
  join(toIncomingPath(dataDir), `${toChunkName(importId, number)}.chunk`)

/** True for the name of a visible chunk of this import in `incoming`. */
export const isChunkOf = (name: string, importId: number) => name.startsWith(`import-${importId}-`)

/** Resolves when the chunk is on the disk. */
export async function writeChunk(
  dataDir: string,
  chunk: { importId: number; number: number },
  lines: readonly Uint8Array[],
): Promise<void> {
  const path = toHiddenPath(dataDir, chunk.importId, chunk.number)
  await rm(path, { recursive: true, force: true })
  await mkdir(path, { recursive: true, mode: 0o700 })
  await writeDurably(join(path, '000001.ndjson'), (file) => file.writev([...lines]))
  await syncToDisk(path)
}

/** Makes the chunk visible to the hit worker, unless it already is. */
export async function showChunk(dataDir: string, importId: number, number: number): Promise<void> {
  const incoming = toIncomingPath(dataDir)
  const hidden = toHiddenPath(dataDir, importId, number)
  if (existsSync(hidden)) await rename(hidden, join(incoming, toChunkName(importId, number)))
  if (existsSync(incoming)) await syncToDisk(incoming)
}

export interface HiddenChunk {
  importId: number
  number: number
}

/** The chunks that are not visible to the hit worker. */
export async function listHiddenChunks(dataDir: string): Promise<HiddenChunk[]> {
  const incoming = toIncomingPath(dataDir)
  if (!existsSync(incoming)) return []
  return (await readdir(incoming)).flatMap((name) => {
    const [, importId, number] = NAME.exec(name) ?? []
    return importId === undefined ? [] : [{ importId: Number(importId), number: Number(number) }]
  })
}

export const deleteHiddenChunk = (dataDir: string, { importId, number }: HiddenChunk): Promise<void> =>
  rm(toHiddenPath(dataDir, importId, number), { recursive: true, force: true })
