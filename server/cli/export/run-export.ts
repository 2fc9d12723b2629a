// Runs `towpath export`: writes a whole workspace into a file, beside a server and without one.

import { mkdtemp, open, rename, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Config } from '../../config/config.ts'
import { toFileStorePlace } from '../../config/upload-settings.ts'
import { VERSION } from '../../config/version.ts'
import { recordExport } from '../../features/accounts/audit/record-export.ts'
import { deleteHitCopy, toHitCopyPath } from '../../features/hits/batches/hit-copy.ts'
import { getOperatorActor } from '../../features/links/domains/operator-actor.ts'
import { exportWorkspace } from '../../features/transfer/export/export-workspace.ts'
import { openServices } from '../../start/services.ts'
import { createSite } from '../../start/site.ts'
import { createFileReader } from '../../storage/files/open-file-store.ts'
import { createClickHouseClient } from '../../storage/hits/clickhouse/client.ts'
import { openClickHouseReader } from '../../storage/hits/clickhouse/reader.ts'
import { openHitCopy } from '../../storage/hits/duckdb/open-hit-copy.ts'
import type { HitReader } from '../../storage/hits/hit-engine.ts'
import { isDataDirLocked } from '../../storage/lock.ts'
import { toWorkerConfig } from '../../workers/run-workers.ts'
import { parseIdArgument } from '../arguments.ts'
import { CommandError, type CommandNeeds } from '../command.ts'
import { obtainHitCopy } from '../move/obtain-hit-copy.ts'
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
  const scratchDir = await mkdtemp(join(config.dataDir, 'export-command-'))
  const half = `${path}.part`
  try {
    const { hits, close } = await openHitReader(config, scratchDir, signal)
    try {
      const site = createSite(config)
      const pieces = await exportWorkspace(
        // A running server decides in a moment what is pending, and so does the next one.
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
    await rm(scratchDir, { recursive: true, force: true })
  }
}

interface OpenHits {
  hits: Pick<HitReader, 'ask' | 'export'>
  close(): Promise<void>
}

/**
 * Opens the hits for a command: those of ClickHouse, or a copy that the running server makes of its DuckDB file.
 * Where no server runs, this process is one meanwhile.
 * @param scratchDir a directory of the command alone
 */
async function openHitReader(config: Config, scratchDir: string, signal: AbortSignal): Promise<OpenHits> {
  if (config.clickHouseUrls) {
    const client = createClickHouseClient(config.clickHouseUrls)
    const reader = openClickHouseReader(client, scratchDir)
    return {
      hits: reader,
      async close() {
        await reader.close()
        await client.close()
      },
    }
  }
  if (!isDataDirLocked(config.dataDir)) {
    const services = await openServices(config)
    await services.hitWorker.drain()
    return { hits: services.hitWorker, close: services.close }
  }
  if (!(await obtainHitCopy(config.dataDir, signal)))
    throw new CommandError(
      'The server does not hand out its hits. Try again when it is ready (/readyz), or stop it.',
    )
  const copy = await openHitCopy(toHitCopyPath(config.dataDir), scratchDir)
  return {
    hits: copy,
    async close() {
      await copy.close()
      await deleteHitCopy(config.dataDir)
    },
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
