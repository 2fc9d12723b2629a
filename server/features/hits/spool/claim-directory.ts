// Prepares the spool's directory at start: its node id and the number of its last segment.

import { randomBytes } from 'node:crypto'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describeError, log } from '../../../lib/log.ts'
import { renameDurably, syncToDisk, writeDurably } from '../../../storage/write-durably.ts'
import { parseSegmentName } from './segment.ts'

const NODE_ID_PATTERN = /^[0-9a-f]{16}$/

const toNodeFile = (dir: string) => join(dir, 'node')

/**
 * Returns the spool's node id and its highest segment number. The worker never deletes the last segment, so a spool without
 * segments was wiped. It gets a new id, because the old id with segment numbers from 1 would assign hit ids twice.
 */
export async function claimDirectory(dir: string): Promise<{ node: string; lastSeq: number }> {
  const names = await readdir(dir)
  for (const name of names) if (name.endsWith('.tmp')) await rm(join(dir, name), { force: true })
  for (const name of names) if (parseSegmentName(name) !== null) await syncSegmentFile(join(dir, name))
  const seqs = names.map(parseSegmentName).filter((seq) => seq !== null)
  const known = seqs.length > 0 ? await readNodeId(dir) : undefined
  if (known === undefined) return { node: await createNodeId(dir), lastSeq: Math.max(0, ...seqs) }
  if (!NODE_ID_PATTERN.test(known)) throw new Error(`${toNodeFile(dir)} does not hold the name of a node`)
  return { node: known, lastSeq: Math.max(...seqs) }
}

/** Syncs hits of a killed server, which may only be in the kernel's memory. A power cut would lose them. */
async function syncSegmentFile(path: string): Promise<void> {
  try {
    await syncToDisk(path)
  } catch (error) {
    log.error('spool_sync_failed', { path, ...describeError(error) })
  }
}

/** undefined if no server has claimed the directory yet. */
export async function readNodeId(dir: string): Promise<string | undefined> {
  try {
    return (await readFile(toNodeFile(dir), 'utf8')).trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return undefined
  }
}

async function createNodeId(dir: string): Promise<string> {
  const path = toNodeFile(dir)
  const node = randomBytes(8).toString('hex')
  await writeDurably(`${path}.tmp`, (file) => file.writeFile(`${node}\n`))
  await renameDurably(`${path}.tmp`, path)
  return node
}
