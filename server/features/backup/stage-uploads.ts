// Freezes uploaded files for a backup. They never change, so a second name keeps their bytes when the server deletes
// them. A file is stored before its row and deleted after it, so files that are linked before and again after the rows'
// moment include all that the rows name.

import { copyFile, link, mkdir, readdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { FILE_KEY } from '../../storage/files/file-key.ts'
import type { StagedFile } from './stage-hits.ts'

const UPLOADS = 'uploads'

interface StageUploadsNeeds {
  dataDir: string
  stage: string
  signal: AbortSignal
}

/** Links the files that are not in the stage yet. */
export async function stageUploads({ dataDir, stage, signal }: StageUploadsNeeds): Promise<void> {
  for (const key of await listKeys(join(dataDir, UPLOADS))) {
    signal.throwIfAborted()
    const target = join(stage, UPLOADS, key)
    await mkdir(dirname(target), { recursive: true, mode: 0o700 })
    await linkOrCopy(join(dataDir, UPLOADS, key), target)
  }
}

/** @param wanted the keys that the rows of the backup name; undefined for all, where another store has the rows */
export async function listStagedUploads(
  { stage }: Pick<StageUploadsNeeds, 'stage'>,
  wanted: ReadonlySet<string> | undefined,
): Promise<StagedFile[]> {
  const staged: StagedFile[] = []
  for (const key of await listKeys(join(stage, UPLOADS))) {
    if (wanted && !wanted.has(key)) continue
    const path = join(stage, UPLOADS, key)
    const { size: bytes, ino: inode } = await stat(path)
    staged.push({ path: `${UPLOADS}/${key}`, staged: path, bytes, inode })
  }
  return staged
}

async function listKeys(dir: string): Promise<string[]> {
  const names = await readdir(dir, { recursive: true }).catch(ignoreGone)
  return (names ?? []).filter((name) => FILE_KEY.test(name)).sort()
}

/** Some file systems have no second names. */
async function linkOrCopy(from: string, to: string): Promise<void> {
  await link(from, to).catch(async (error) => {
    if (error.code === 'EEXIST') return
    if (error.code !== 'ENOENT') await copyFile(from, to).catch(ignoreGone)
  })
}

/** The server may delete a file at any moment. */
function ignoreGone(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
