// Check: the room on the disks of DATA_DIR and BACKUP_DIR, and whether they are disks of this machine.

import { existsSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { formatBytes } from '../../../lib/formats/format-bytes.ts'
import { toLowMark } from '../../../storage/disk-space.ts'
import { type CheckResult, complaintsOr, problem, warning } from '../finding.ts'
import type { DoctorNeeds } from '../needs.ts'

export interface DiskFacts {
  free: number
  total: number
  /** 0 where the file system has no fixed number of inodes. */
  inodes: number
  freeInodes: number
  /** The magic number of the file system (statfs(2)). */
  type: number
}

/** Files that the hits of some weeks can take, with a margin (batch-retention.ts). */
const INODES_MIN = 50_000

/** https://man7.org/linux/man-pages/man2/statfs.2.html. Their locks and shared memory do not hold what SQLite needs. */
const NETWORK_FILE_SYSTEMS: Record<number, string> = {
  26985: 'NFS',
  20859: 'SMB',
  4283649346: 'CIFS',
  4266872130: 'SMB2',
  1397113167: 'AFS',
  12805120: 'Ceph',
  16914839: '9P',
  198183888: 'Lustre',
}

export async function checkDisk({ settings }: DoctorNeeds): Promise<CheckResult[]> {
  const { dataDir, backups, diskReserveBytes } = settings
  if (!existsSync(dataDir))
    return [
      problem(
        `DATA_DIR: ${dataDir} does not exist.`,
        'Start the server once, which creates it, or set DATA_DIR to the directory of your server.',
      ),
    ]
  const facts = await readDiskFacts(dataDir)
  const complaints = judgeDisk('DATA_DIR', facts, diskReserveBytes)
  if (backups && existsSync(backups.dir))
    complaints.push(...judgeRoom('BACKUP_DIR', await readDiskFacts(backups.dir), 0))
  return complaintsOr(
    complaints,
    `${formatBytes(facts.free)} of ${formatBytes(facts.total)} are free in DATA_DIR.`,
  )
}

async function readDiskFacts(dir: string): Promise<DiskFacts> {
  const { bavail, blocks, bsize, files, ffree, type } = await statfs(dir)
  return { free: bavail * bsize, total: blocks * bsize, inodes: files, freeInodes: ffree, type: type >>> 0 }
}

export function judgeDisk(name: string, facts: DiskFacts, reserveBytes: number): CheckResult[] {
  const network = NETWORK_FILE_SYSTEMS[facts.type]
  const found = judgeRoom(name, facts, reserveBytes)
  if (network === undefined) return found
  const fix = 'Move it to a disk of this machine: SQLite and the spool need its locks and its memory mapping.'
  return [problem(`${name} is on a network file system (${network}).`, fix), ...found]
}

function judgeRoom(name: string, facts: DiskFacts, reserveBytes: number): CheckResult[] {
  return [...judgeFreeBytes(name, facts, reserveBytes), ...judgeInodes(name, facts)]
}

/** Without a mark (DISK_RESERVE_MB=0), a disk with less than this is nearly full. */
const NEARLY_FULL = 100 * 1024 * 1024

function judgeFreeBytes(name: string, { free, total }: DiskFacts, reserveBytes: number): CheckResult[] {
  const mark = toLowMark(total, reserveBytes)
  const room = `${name}: ${formatBytes(free)} of ${formatBytes(total)} are free`
  const fix = 'Make room on this disk, or lower DISK_RESERVE_MB where the disk is small.'
  if (free < mark)
    return [
      problem(
        `${room}, below the mark of ${formatBytes(mark)}: one hit in ten is recorded, forms answer 503.`,
        fix,
      ),
    ]
  if (free < NEARLY_FULL) return [problem(`${room}.`, 'Make room on this disk.')]
  if (free < mark * 2) return [warning(`${room}, and at ${formatBytes(mark)} hits are left out.`, fix)]
  return []
}

function judgeInodes(name: string, { inodes, freeInodes }: DiskFacts): CheckResult[] {
  if (inodes === 0 || freeInodes >= Math.min(INODES_MIN, inodes * 0.05)) return []
  const fix = 'Delete unneeded files, or recreate the file system with more inodes.'
  return [problem(`${name}: the file system has room for only ${freeInodes} more files (inodes).`, fix)]
}
