// The calls of `node:fs` and `node:fs/promises` that the hit pipeline makes, on a simulated disk.

import { type Disk, DiskError, type Inode } from './disk.ts'
import type { SimulatedProcess } from './process.ts'

interface OpenFile {
  inode: Inode
  position: number
}

/** The descriptors of a process. */
export function createFileCalls(disk: Disk, process: SimulatedProcess) {
  const files = new Map<number, OpenFile>()
  let lastFd = 2

  const call = <T>(label: string, work: () => T) => process.call(label, disk.latency(), work)
  const get = (path: string, syscall: string): Inode => {
    const inode = disk.find(path)
    if (!inode) throw new DiskError('ENOENT', syscall, path)
    return inode
  }
  const getFile = (fd: number): OpenFile => {
    const file = files.get(fd)
    if (!file) throw new DiskError('EBADF', 'fd', String(fd))
    return file
  }
  const toStats = ({ size, mtimeMs }: Inode) => ({ size, mtimeMs })

  function openNow(path: string, flags: string): number {
    let inode = disk.find(path)
    if (inode && flags === 'wx') throw new DiskError('EEXIST', 'open', path)
    if (!inode) {
      if (!flags.startsWith('w')) throw new DiskError('ENOENT', 'open', path)
      inode = disk.create(path, 'file')
    } else if (flags === 'w') {
      inode.cache = new Uint8Array()
      inode.size = 0
    }
    files.set(++lastFd, { inode, position: 0 })
    return lastFd
  }

  function writeNow(fd: number, bytes: Uint8Array, position?: number | null): number {
    const file = getFile(fd)
    const written = disk.write(file.inode, bytes, position ?? file.position)
    if (position === undefined || position === null) file.position += written
    return written
  }

  function writeAll(fd: number, content: Uint8Array | string) {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content
    for (let at = 0; at < bytes.length; ) at += writeNow(fd, bytes.subarray(at))
  }

  function readNow(fd: number, into: Uint8Array, position?: number | null): number {
    const file = getFile(fd)
    const bytesRead = disk.read(file.inode, into, position ?? file.position)
    if (position === undefined || position === null) file.position += bytesRead
    return bytesRead
  }

  /** Later writes do not belong to this sync. */
  async function sync(fd: number) {
    const end = disk.beginSync(getFile(fd).inode)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    if (--process.callsLeft <= 0) process.kill('killed at a sync')
    process.after(disk.latency(), 'sync', () => {
      try {
        end()
        resolve()
      } catch (error) {
        reject(error)
      }
    })
    await promise
  }

  const toHandle = (fd: number) => ({
    fd,
    write: (bytes: Uint8Array, offset = 0, length = bytes.length - offset, position: number | null = null) =>
      call('write', () => ({
        bytesWritten: writeNow(fd, bytes.subarray(offset, offset + length), position),
      })),
    writeFile: (content: Uint8Array | string) => call('writeFile', () => writeAll(fd, content)),
    read: (into: Uint8Array, offset: number, length: number, position: number | null) =>
      call('read', () => ({ bytesRead: readNow(fd, into.subarray(offset, offset + length), position) })),
    stat: () => call('fstat', () => toStats(getFile(fd).inode)),
    sync: () => sync(fd),
    datasync: () => sync(fd),
    close: () => call('close', () => void files.delete(fd)),
  })

  async function* readInChunks(path: string, chunkBytes: number) {
    const fd = await call('open', () => openNow(path, 'r'))
    for (;;) {
      const chunk = Buffer.alloc(Math.min(chunkBytes, getFile(fd).inode.size))
      const bytesRead = await call('read', () => readNow(fd, chunk))
      if (bytesRead === 0) break
      yield chunk.subarray(0, bytesRead)
    }
    files.delete(fd)
  }

  const list = (path: string) => [...get(path, 'readdir').entries]

  return {
    fs: {
      existsSync: (path: string) => disk.find(path) !== undefined,
      statSync: (path: string) => toStats(get(path, 'stat')),
      readFileSync(path: string) {
        const { cache, size } = get(path, 'open')
        return Buffer.from(cache.slice(0, size))
      },
      readdirSync: (path: string) => list(path).map(([name]) => name),
      readSync: (fd: number, into: Uint8Array, offset: number, length: number, position: number) =>
        readNow(fd, into.subarray(offset, offset + length), position),
      writeSync: (
        fd: number,
        bytes: Uint8Array,
        offset = 0,
        length = bytes.length - offset,
        position?: number,
      ) => process.callSync(() => writeNow(fd, bytes.subarray(offset, offset + length), position), length),
      writeFileSync: (path: string, content: Uint8Array, { flag }: { flag: string }) =>
        process.callSync(() => {
          const fd = openNow(path, flag)
          writeAll(fd, content)
          files.delete(fd)
        }, undefined),
      fdatasync: (fd: number, done: (error?: unknown) => void) => void sync(fd).then(() => done(), done),
      createReadStream: (path: string, { highWaterMark }: { highWaterMark: number }) =>
        readInChunks(path, highWaterMark),
    },
    promises: {
      open: (path: string, flags = 'r') => call(`open ${path}`, () => openNow(path, flags)).then(toHandle),
      readFile: (path: string, encoding?: 'utf8') =>
        call(`readFile ${path}`, () => {
          const { cache, size } = get(path, 'open')
          const bytes = Buffer.from(cache.slice(0, size))
          return encoding ? bytes.toString(encoding) : bytes
        }),
      readdir: (path: string, options?: { withFileTypes: boolean }) =>
        call(`readdir ${path}`, () =>
          list(path).map(([name, { kind }]) =>
            options ? { name, isDirectory: () => kind === 'directory' } : name,
          ),
        ),
      stat: (path: string) => call(`stat ${path}`, () => toStats(get(path, 'stat'))),
      statfs: () => call('statfs', () => ({ bavail: 1024, blocks: 1024, bsize: 1024 * 1024 })),
      mkdir: (path: string) =>
        call(`mkdir ${path}`, () => {
          const names = path.split('/').slice(1)
          for (let depth = 1; depth <= names.length; depth++) {
            const parent = `/${names.slice(0, depth).join('/')}`
            if (!disk.find(parent)) disk.create(parent, 'directory')
          }
        }),
      rename: (from: string, to: string) => call(`rename ${from} ${to}`, () => disk.rename(from, to)),
      rm: (path: string, { force = false }: { force?: boolean } = {}) =>
        call(`rm ${path}`, () => {
          if (!force || disk.find(path)) disk.remove(path)
        }),
      rmdir: (path: string) => call(`rmdir ${path}`, () => disk.remove(path)),
      utimes: (path: string, _: Date, modified: Date) =>
        call(`utimes ${path}`, () => {
          get(path, 'utimes').mtimeMs = modified.getTime()
        }),
    },
    /** A process that is killed maps memory of its own. */
    mmap: (path: string) => {
      const { cache, size } = get(path, 'mmap')
      return process.callSync(() => cache.subarray(0, size), new Uint8Array(size))
    },
  }
}
