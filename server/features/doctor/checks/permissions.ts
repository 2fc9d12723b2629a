// Checks that only the server's user reads and owns the files in DATA_DIR. A command that was run as root leaves
// files behind that the server cannot write.

import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { type DataFile, listDataFiles } from '../data-files.ts'
import { type CheckResult, complaintsOr, problem, skipped, warning } from '../finding.ts'
import { formatCount } from '../format.ts'
import type { DoctorNeeds } from '../needs.ts'

const FOR_OTHERS = 0o077
const WORLD_READABLE = 0o004

export async function checkPermissions({ settings }: DoctorNeeds): Promise<CheckResult[]> {
  const { dataDir } = settings
  if (!existsSync(dataDir)) return [skipped('DATA_DIR does not exist.')]
  const own = process.getuid?.()
  if (own === undefined) return [skipped('This system has no owners of files.')]
  const root = await stat(dataDir)
  const files = await listDataFiles(dataDir)
  return complaintsOr(
    [
      ...judgeDirectory(dataDir, root, own),
      ...judgeSecret(dataDir, files),
      ...judgeOwners(dataDir, files, root.uid),
      ...judgeReaders(dataDir, files),
    ],
    'DATA_DIR belongs to one user, and other users cannot read it.',
  )
}

function judgeDirectory(
  dataDir: string,
  { uid, mode }: { uid: number; mode: number },
  own: number,
): CheckResult[] {
  const found: CheckResult[] = []
  if ((mode & FOR_OTHERS) !== 0)
    found.push(
      problem(
        `DATA_DIR is open to other users (mode ${(mode & 0o777).toString(8)}): it has the secret and password hashes.`,
        `chmod 700 ${dataDir}`,
      ),
    )
  // Root may look at everybody's files.
  if (uid !== own && own !== 0)
    found.push(
      problem(
        `DATA_DIR belongs to the user ${uid}, and this command runs as ${own}.`,
        `Run the command as the user of the server, or chown -R ${own} ${dataDir}.`,
      ),
    )
  return found
}

function judgeSecret(dataDir: string, files: DataFile[]): CheckResult[] {
  const secret = files.find(({ name }) => name === 'secret')
  if (!secret || (secret.stats.mode & FOR_OTHERS) === 0) return []
  const fix = `chmod 600 ${dataDir}/secret`
  return [problem('Other users may read the file of the secret, which seals sessions and channels.', fix)]
}

function judgeOwners(dataDir: string, files: DataFile[], owner: number): CheckResult[] {
  const foreign = files.filter(({ stats }) => stats.uid !== owner)
  if (foreign.length === 0) return []
  return [
    problem(
      `${countFiles(foreign)} in DATA_DIR of another user than its own (${owner}): the server cannot write them.`,
      `chown -R ${owner} ${dataDir}. Run commands as the user of the server, not as root.`,
    ),
  ]
}

function judgeReaders(dataDir: string, files: DataFile[]): CheckResult[] {
  const open = files.filter(({ stats }) => !stats.isSymbolicLink() && (stats.mode & WORLD_READABLE) !== 0)
  if (open.length === 0) return []
  const fix = `chmod -R go= ${dataDir}`
  return [warning(`${countFiles(open)} in DATA_DIR could be read by every user.`, fix)]
}

/** For example `3 files (towpath.db, …)`. */
function countFiles(files: DataFile[]): string {
  const [first, second] = files
  return `${formatCount(files.length, 'file')} (${first?.name}${second ? ', …' : ''})`
}
