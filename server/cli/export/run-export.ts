// Runs `towpath export`: writes a whole workspace into a file, with or without a running server.

import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { toFileStorePlace } from '../../config/upload-settings.ts'
import { VERSION } from '../../config/version.ts'
import { recordExport } from '../../features/accounts/audit/record-export.ts'
import { getOperatorActor } from '../../features/links/domains/operator-actor.ts'
import { exportWorkspace } from '../../features/transfer/export/export-workspace.ts'
import { createSite } from '../../start/site.ts'
import { createExportDirectory, toScratchDirectory } from '../../storage/export-directory.ts'
import { createFileReader } from '../../storage/files/open-file-store.ts'
import { toWorkerConfig } from '../../workers/run-workers.ts'
import { parseIdArgument } from '../arguments.ts'
import { CommandError, type CommandNeeds } from '../command.ts'
import { openHitReader } from '../open-hit-reader.ts'
import type { ProgressBar } from '../progress-bar.ts'

export interface ExportCommandNeeds extends CommandNeeds {
  progress: ProgressBar
  signal: AbortSignal
}

/** @returns the report for the operator */
export async function runExport(
  needs: ExportCommandNeeds,
  id: string | undefined,
  file: string,
): Promise<string> {
  const { db, now, signal, progress } = needs
  const workspaceId = parseIdArgument(id, 'The workspace')
  const path = resolve(file)
  if (await stat(path).catch(() => undefined)) throw new CommandError(`${file} exists. Name a new file.`)
  const actor = await getOperatorActor({ db }, { workspaceId })
  const config = needs.config.workers > 1 ? toWorkerConfig(needs.config, 1) : needs.config
  // The hit engine writes to this folder only. The next start of a server empties it.
  const tmp = toScratchDirectory(config.dataDir)
  await mkdir(tmp, { recursive: true, mode: 0o700 })
  const { path: scratchDir, remove } = await createExportDirectory(tmp)
  const half = `${path}.part`
  try {
    const { hits, close } = await openHitReader(config, scratchDir, signal)
    try {
      const site = createSite(config)
      const pieces = await exportWorkspace(
        // A running server decides pending attribution soon, and so does the next one.
        {
          db,
          site,
          hits,
          fileStore: createFileReader(toFileStorePlace(needs.config)),
          scratchDir,
          now,
          version: VERSION,
          resolvePendingAttribution: async () => {},
        },
        actor,
        signal,
      )
      const bytes = await writeFile(half, pieces, progress)
      await recordExport({ db, now }, actor, { action: 'workspace.exported' })
      await rename(half, path)
      return `Workspace ${workspaceId} is in ${file} (${toMegabytes(bytes)}). On another server: npx towpath import ${file} --workspace <id>`
    } finally {
      await close()
    }
  } finally {
    progress.end()
    await rm(half, { force: true })
    await remove()
  }
}

async function writeFile(
  path: string,
  pieces: AsyncIterable<Uint8Array>,
  progress: ProgressBar,
): Promise<number> {
  const file = await open(path, 'wx', 0o600)
  let bytes = 0
  try {
    for await (const piece of pieces) {
      await file.writeFile(piece)
      bytes += piece.length
      progress.at(0, `${toMegabytes(bytes)} written`)
    }
    await file.sync()
    return bytes
  } finally {
    await file.close()
  }
}

const toMegabytes = (bytes: number) => `${(bytes / 1024 ** 2).toFixed(1)} MB`
