// A copy of all hits for another process (`towpath move`), which cannot read the engine's file while a server runs. The
// process creates a request file in the data directory, and the hit worker answers it with a copy.

import { existsSync } from 'node:fs'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { renameDurably, writeDurably } from '../../../storage/write-durably.ts'

/** The directory has only the files of a move, so it can be deleted at any time. */
export const toMoveDirectory = (dataDir: string) => join(dataDir, 'move')
export const toHitCopyPath = (dataDir: string) => join(toMoveDirectory(dataDir), 'hits.duckdb')

const toRequestPath = (dataDir: string) => join(toMoveDirectory(dataDir), 'copy-wanted')
const toRefusalPath = (dataDir: string) => join(toMoveDirectory(dataDir), 'copy-failed')

/** Requests a copy from the server. It replaces the copy of an earlier request. */
export async function requestHitCopy(dataDir: string): Promise<void> {
  await rm(toMoveDirectory(dataDir), { recursive: true, force: true })
  await mkdir(toMoveDirectory(dataDir), { mode: 0o700 })
  await writeDurably(toRequestPath(dataDir), async () => {})
}

export const isHitCopyWanted = (dataDir: string): boolean => existsSync(toRequestPath(dataDir))

/** @returns true if the copy is complete @throws with the worker's reason if it failed */
export async function isHitCopyReady(dataDir: string): Promise<boolean> {
  if (existsSync(toRefusalPath(dataDir))) throw new Error(await readFile(toRefusalPath(dataDir), 'utf8'))
  return !isHitCopyWanted(dataDir) && existsSync(toHitCopyPath(dataDir))
}

/** @returns true while the worker writes the copy */
export const isHitCopyBegun = (dataDir: string): boolean => existsSync(`${toHitCopyPath(dataDir)}.half`)

/** The worker's answer: the copy exists, or the reason of the failure. */
export async function answerHitCopyRequest(dataDir: string, failure?: string): Promise<void> {
  // The other process may have canceled the request and deleted the directory.
  if (!isHitCopyWanted(dataDir)) return deleteHitCopy(dataDir)
  if (failure === undefined) return rm(toRequestPath(dataDir), { force: true })
  await writeDurably(toRequestPath(dataDir), (file) => file.writeFile(failure))
  await renameDurably(toRequestPath(dataDir), toRefusalPath(dataDir))
}

/** Deletes the copy, and the request for one. */
export const deleteHitCopy = (dataDir: string): Promise<void> =>
  rm(toMoveDirectory(dataDir), { recursive: true, force: true })
