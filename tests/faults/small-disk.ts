// Gives one process a disk of a few megabytes: a tmpfs in a new mount namespace. Other processes do not see the disk,
// and it ends with the process.

import { closeSync, mkdtempSync, openSync, rmdirSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** @returns the command that starts a program with a disk of `bytes` over `dir`, with its files and their owners */
export function toSmallDiskCommand(dir: string, bytes: number): string[] {
  const mount =
    'mount -t tmpfs -o size="$1" tmpfs /mnt && cp -a "$2/." /mnt && mount --move /mnt "$2" && shift 2 && exec "$@"'
  return ['unshare', '--mount', 'sh', '-c', mount, 'sh', String(bytes), dir]
}

/** @returns the path at which other processes see a directory of that process */
export const toProcessPath = (pid: number, dir: string) => join(`/proc/${pid}/root`, dir)

/** @returns why this machine cannot mount a small disk, or undefined when it can */
export function findSmallDiskProblem(): string | undefined {
  if (process.platform !== 'linux') return 'only Linux has mount namespaces'
  if (process.getuid?.() !== 0) return 'only root may mount a disk'
  if (!Bun.which('unshare')) return 'the program unshare is missing'
  const dir = mkdtempSync(join(tmpdir(), 'towpath-disk-'))
  const run = Bun.spawnSync([...toSmallDiskCommand(dir, 1024 * 1024), 'true'], {
    stdout: 'ignore',
    stderr: 'pipe',
  })
  rmdirSync(dir)
  return run.success ? undefined : `mounting is not allowed: ${run.stderr.toString().trim().split('\n')[0]}`
}

/** Writes a file until its disk has no byte left. */
export function fillDisk(path: string) {
  const file = openSync(path, 'a')
  for (let bytes = 4 * 1024 * 1024; bytes >= 1; bytes >>= 1) {
    const zeros = new Uint8Array(bytes)
    try {
      for (;;) if (writeSync(file, zeros) < bytes) break
    } catch (error) {
      if ((error as { code?: string }).code !== 'ENOSPC') throw error
    }
  }
  closeSync(file)
}
