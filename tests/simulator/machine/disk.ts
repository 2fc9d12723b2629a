// A simulated disk behind the kernel's memory. Unsynced writes may be lost, in part and out of order, when the power is
// cut. A killed process loses nothing.

import type { World } from './world.ts'

/** The unit that a disk writes whole or not at all. */
const SECTOR_BYTES = 512

export interface Inode {
  readonly id: number
  readonly kind: 'file' | 'directory'
  /** The kernel's memory. Its length may be larger than the file. A mapped file has this very array. */
  cache: Uint8Array
  size: number
  mtimeMs: number
  /** The synced content. */
  durable: Uint8Array
  durableVersion: number
  readonly parent: Inode | null
  entries: Map<string, Inode>
  durableEntries: Map<string, Inode>
  /** Changes of names that are not on the disk yet, in order. */
  changes: NameChange[]
}

interface Sync {
  inode: Inode
  from: number
  until: number
  failed: boolean
}

interface NameChange {
  version: number
  set?: [name: string, inode: Inode]
  remove?: string
}

/** Temporary faults of a disk. */
export interface DiskTrouble {
  full: boolean
  /** The most milliseconds that a call takes. */
  slowMs: number
  /** The probability that a sync fails. */
  failingSyncs: number
  /** Says that it has synced, and has not. No product survives it: the simulator must find it. */
  forgetsSyncs: boolean
}

export interface Disk {
  readonly root: Inode
  readonly trouble: DiskTrouble
  find(path: string): Inode | undefined
  create(path: string, kind: Inode['kind']): Inode
  remove(path: string): void
  rename(from: string, to: string): void
  write(inode: Inode, bytes: Uint8Array, at: number): number
  read(inode: Inode, into: Uint8Array, at: number): number
  /** Begins a sync. @returns ends it: only then its bytes and names are on the disk */
  beginSync(inode: Inode): () => void
  /** How long the next call takes. */
  latency(): number
  /** The kernel writes some of what is dirty, as it does now and then. */
  writeBack(): void
  cutPower(): void
  /** Hits that were recorded before this moment must be on the disk, by the promise of a sync each `everyMs`. */
  syncedBefore(everyMs: number): number
}

export class DiskError extends Error {
  constructor(
    readonly code: string,
    readonly syscall: string,
    path: string,
  ) {
    super(`${code}: ${syscall} '${path}'`)
  }
}

export function createDisk(world: World): Disk {
  let lastId = 0
  let version = 0
  let inodes: Inode[] = []
  const syncs: Sync[] = []
  const trouble: DiskTrouble = { full: false, slowMs: 0, failingSyncs: 0, forgetsSyncs: false }

  function createInode(kind: Inode['kind'], parent: Inode | null): Inode {
    const inode: Inode = {
      id: ++lastId,
      kind,
      parent,
      cache: new Uint8Array(),
      size: 0,
      mtimeMs: world.wallClock(),
      durable: new Uint8Array(),
      durableVersion: 0,
      entries: new Map(),
      durableEntries: new Map(),
      changes: [],
    }
    inodes.push(inode)
    return inode
  }
  const root = createInode('directory', null)

  const find = (path: string): Inode | undefined => {
    let at: Inode | undefined = root
    for (const name of path.split('/')) if (name !== '') at = at?.entries.get(name)
    return at
  }

  function toPlace(path: string, syscall: string): [Inode, string] {
    const cut = path.lastIndexOf('/')
    const directory = find(path.slice(0, cut))
    if (!directory) throw new DiskError('ENOENT', syscall, path)
    return [directory, path.slice(cut + 1)]
  }

  function change(directory: Inode, { set, remove }: Omit<NameChange, 'version'>) {
    directory.changes.push({ version: ++version, set, remove })
    applyChange(directory.entries, { set, remove })
  }

  return {
    root,
    trouble,
    find,
    create(path, kind) {
      const [directory, name] = toPlace(path, kind === 'file' ? 'open' : 'mkdir')
      if (trouble.full && world.chance(0.5)) throw new DiskError('ENOSPC', 'open', path)
      const inode = createInode(kind, directory)
      change(directory, { set: [name, inode] })
      return inode
    },
    remove(path) {
      const [directory, name] = toPlace(path, 'unlink')
      if (!directory.entries.has(name)) throw new DiskError('ENOENT', 'unlink', path)
      change(directory, { remove: name })
    },
    rename(from, to) {
      const [directory, name] = toPlace(from, 'rename')
      const [target, newName] = toPlace(to, 'rename')
      if (target !== directory) throw new Error('Renames from one directory to another are not simulated')
      const inode = directory.entries.get(name)
      if (!inode) throw new DiskError('ENOENT', 'rename', from)
      change(directory, { set: [newName, inode], remove: name })
    },
    write(inode, bytes, at) {
      const end = at + bytes.length
      if (trouble.full && end > inode.size) {
        // The part that fits is written, and the rest is refused.
        const fits = Math.max(0, Math.min(inode.size - at, bytes.length))
        if (fits === 0) throw new DiskError('ENOSPC', 'write', '')
        inode.cache.set(bytes.subarray(0, fits), at)
        return fits
      }
      if (end > inode.cache.length) {
        const larger = new Uint8Array(Math.max(end, 2 * inode.cache.length))
        larger.set(inode.cache)
        inode.cache = larger
      }
      inode.cache.set(bytes, at)
      inode.size = Math.max(inode.size, end)
      inode.mtimeMs = world.wallClock()
      return bytes.length
    },
    read(inode, into, at) {
      const bytes = inode.cache.subarray(at, Math.max(at, Math.min(inode.size, at + into.length)))
      into.set(bytes)
      return bytes.length
    },
    beginSync(inode) {
      const begun = { content: inode.cache.slice(0, inode.size), version: ++version }
      const sync = { inode, from: world.now(), until: Number.POSITIVE_INFINITY, failed: false }
      syncs.push(sync)
      return () => {
        sync.until = world.now()
        if (trouble.failingSyncs > 0 && world.chance(trouble.failingSyncs)) {
          sync.failed = true
          throw new DiskError('EIO', 'fsync', String(inode.id))
        }
        if (!trouble.forgetsSyncs) endSync(inode, begun)
      }
    },
    latency: () => (trouble.slowMs > 0 ? world.random() * trouble.slowMs : world.random() * 1.5),
    writeBack() {
      for (const inode of inodes) if (inode.kind === 'file') writeSectors(world, inode, 0.3)
    },
    cutPower() {
      const share = world.pick([0, 0.1, 0.5, 0.9, 1])
      for (const inode of inodes) {
        if (inode.kind === 'file') writeSectors(world, inode, share)
        else
          for (const each of inode.changes.splice(0).slice(0, world.between(0, 3)))
            applyChange(inode.durableEntries, each)
        inode.cache = inode.durable.slice()
        inode.size = inode.cache.length
        inode.entries = new Map(inode.durableEntries)
      }
      inodes = inodes.filter((inode) => isReachable(root, inode))
    },
    syncedBefore(everyMs) {
      const now = world.now()
      const lately = syncs.filter(({ until }) => until >= now - 10_000)
      // A pass syncs one file after another.
      let [longest, passFrom, passUntil] = [0, 0, Number.NEGATIVE_INFINITY]
      for (const { from, until } of lately) {
        if (from > passUntil + 1) passFrom = from
        passUntil = Math.min(until, now)
        longest = Math.max(longest, passUntil - passFrom)
      }
      // Unwritten data of a sync waits for the next one of the same file.
      const unrepaired = syncs.filter(
        (sync, i) =>
          sync.failed &&
          !syncs.slice(i).some((later) => later.inode === sync.inode && !later.failed && later.until <= now),
      )
      // A pass syncs the segments that are full before the live one, and the next pass waits for it.
      return (
        Math.min(now, ...unrepaired.map(({ from }) => from)) -
        everyMs -
        4 * Math.max(longest, trouble.slowMs, 2)
      )
    },
  }
}

function endSync(inode: Inode, begun: { content: Uint8Array; version: number }) {
  if (begun.version > inode.durableVersion) {
    inode.durable = begun.content
    inode.durableVersion = begun.version
  }
  if (inode.kind === 'file') return
  while (inode.changes[0] && inode.changes[0].version < begun.version)
    applyChange(inode.durableEntries, inode.changes.shift() as NameChange)
  // File systems with a journal write the directory's own name with it.
  for (let child = inode; child.parent; child = child.parent)
    for (const [name, known] of child.parent.entries)
      if (known === child) child.parent.durableEntries.set(name, child)
}

function applyChange(entries: Map<string, Inode>, { set, remove }: Omit<NameChange, 'version'>) {
  if (remove !== undefined) entries.delete(remove)
  if (set) entries.set(...set)
}

/** Writes each dirty sector with this probability. Sectors that were never written are zeros. */
function writeSectors(world: World, inode: Inode, share: number) {
  const { cache, size, durable } = inode
  if (share === 0 || (durable.length === size && Buffer.compare(durable, cache.subarray(0, size)) === 0))
    return
  const grown = size > durable.length && world.chance(share) ? size : Math.min(durable.length, size)
  const next = new Uint8Array(grown)
  next.set(durable.subarray(0, grown))
  for (let at = 0; at < grown; at += SECTOR_BYTES) {
    const sector = cache.subarray(at, Math.min(at + SECTOR_BYTES, grown))
    if (Buffer.compare(sector, next.subarray(at, at + sector.length)) !== 0 && world.chance(share))
      next.set(sector, at)
  }
  inode.durable = next
}

function isReachable(root: Inode, inode: Inode): boolean {
  for (let at = inode; ; at = at.parent) {
    if (at === root) return true
    if (!at.parent || ![...at.parent.entries.values()].includes(at)) return false
  }
}
