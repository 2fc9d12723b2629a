// Replays the system calls of a process (strace) into the files that a disk has at any moment: all synced data, and any
// part of the writes after the last sync.

import { listEndedCalls } from './strace.ts'

/** A write, or where a file was cut off. */
type Change = { at: number; bytes: Buffer } | { length: number }

interface ReplayedFile {
  synced: GrowingFile
  /** In their order. A power cut leaves any of them. */
  unsynced: Change[]
}

interface Sync {
  path: string
  file: ReplayedFile
  /** How many changes had been made before it began: it need not have written later ones. */
  changes: number
}

/** The content of a file, with room to grow. */
interface GrowingFile {
  bytes: Buffer
  length: number
}

export interface ReplayOptions {
  /** The files to follow, with their bytes before the first call. */
  files: Map<string, Buffer>
  /** Called with the bytes of each `write` to a socket. @returns whether to look at the disk at this moment */
  isMoment(sent: string): boolean
  /** Called after such a write, and in the middle of each sync. */
  look(disk: ReplayedDisk): void
}

export interface ReplayedDisk {
  /** The content of each file after a power cut now. @param keep whether a write after the last sync had reached the disk */
  cut(keep: () => boolean): Map<string, Buffer>
}

/** With `-xx`, strace prints every byte of a text as `\x41`. */
export const toReplayCommand = (file: string) => [
  'strace',
  '-D',
  '-f',
  '-yy',
  '-xx',
  '-s',
  '100000',
  '-o',
  file,
  '-e',
  'trace=fdatasync,fsync,ftruncate,pwrite64,sendto,sendmsg,write,writev',
]

/** @returns the number of syncs of each file */
export function replay(trace: Iterable<string>, { files, isMoment, look }: ReplayOptions) {
  const disk = new Map<string, ReplayedFile>()
  for (const [path, bytes] of files) disk.set(path, { synced: toGrowing(bytes), unsynced: [] })
  const syncs = new Map<string, number>()
  const cut: ReplayedDisk['cut'] = (keep) =>
    new Map([...disk].map(([path, file]) => [path, cutFile(file, keep)]))
  /** Syncs during which another thread has made a call, by thread. */
  const syncing = new Map<string, Sync>()
  const finishSync = ({ path, file, changes }: Sync) => {
    for (const change of file.unsynced.splice(0, changes)) applyChange(file.synced, change)
    syncs.set(path, (syncs.get(path) ?? 0) + 1)
  }
  for (const line of trace) {
    const [, thread = '', call = ''] = /^(\d+) +(.*)$/.exec(line) ?? []
    const [, name = '', text = ''] = /^(\w+)\(\d+<([^>]*)>/.exec(call) ?? []
    const path = decodeText(text)
    const file = disk.get(path)
    if (file && /sync$/.test(name)) {
      look({ cut })
      const sync = { path, file, changes: file.unsynced.length }
      if (call.endsWith('= 0')) finishSync(sync)
      else if (call.includes('<unfinished')) syncing.set(thread, sync)
    } else if (/^<\.\.\. f(data)?sync resumed/.test(call)) {
      const sync = syncing.get(thread)
      syncing.delete(thread)
      if (sync && call.endsWith('= 0')) finishSync(sync)
    } else if (file) file.unsynced.push(readChange(name, call))
    else if (/^(sendto|sendmsg|write|writev)$/.test(name) && isMoment(decodeText(call))) look({ cut })
  }
  return syncs
}

/**
 * @param trace of a process that may still run
 * @returns whether a sync of the file has ended
 */
export const hasSynced = (trace: string, path: string): boolean =>
  listEndedCalls(trace).some((call) => {
    const [, text] = /^\d+ +f\w*sync\(\d+<([^>]*)>.* = 0$/.exec(call) ?? []
    return text !== undefined && decodeText(text) === path
  })

function readChange(name: string, call: string): Change {
  if (name === 'ftruncate') return { length: Number(/, (\d+)/.exec(call)?.[1]) }
  const [, text = '', size, at] = /"([^"]*)", (\d+), (\d+)/.exec(call) ?? []
  const bytes = Buffer.from(text.replaceAll('\\x', ''), 'hex')
  if (name !== 'pwrite64' || bytes.length !== Number(size))
    throw new Error(`this call cannot be replayed: ${call.slice(0, 200)}`)
  return { at: Number(at), bytes }
}

const toGrowing = (bytes: Buffer): GrowingFile => ({ bytes: Buffer.from(bytes), length: bytes.length })

function cutFile({ synced, unsynced }: ReplayedFile, keep: () => boolean): Buffer {
  const left = toGrowing(synced.bytes.subarray(0, synced.length))
  for (const change of unsynced) if (keep()) applyChange(left, change)
  return left.bytes.subarray(0, left.length)
}

function applyChange(file: GrowingFile, change: Change) {
  const length = 'length' in change ? change.length : Math.max(file.length, change.at + change.bytes.length)
  if (length > file.bytes.length)
    file.bytes = Buffer.concat([file.bytes.subarray(0, file.length), Buffer.alloc(2 * length - file.length)])
  if ('length' in change) file.bytes.fill(0, Math.min(length, file.length))
  else change.bytes.copy(file.bytes, change.at)
  file.length = length
}

const decodeText = (text: string) =>
  text.replace(/(?:\\x[0-9a-f]{2})+/g, (bytes) =>
    Buffer.from(bytes.replaceAll('\\x', ''), 'hex').toString('latin1'),
  )
