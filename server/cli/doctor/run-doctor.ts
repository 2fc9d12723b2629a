// Runs the checks outside the server, with or without a running server, for a directory in any state.

import { join } from 'node:path'
import { type ConfigInspection, inspectConfig } from '../../config/config.ts'
import { findSecret } from '../../config/storage-settings.ts'
import { toFileStorePlace } from '../../config/upload-settings.ts'
import { VERSIONS } from '../../config/version.ts'
import type { DoctorFinding } from '../../features/doctor/finding.ts'
import type { DoctorNeeds } from '../../features/doctor/needs.ts'
import { createOperatorToken, toAnswerProof } from '../../features/doctor/operator-token.ts'
import { CHECKS, type Check, SERVER_CHECK } from '../../features/doctor/report/check-list.ts'
import { runChecks, toReport } from '../../features/doctor/report/run-checks.ts'
import type { DoctorReport } from '../../features/doctor/schema.ts'
import { requestFromOperator } from '../../http/operator-request.ts'
import { parseJson } from '../../lib/formats/parse-json.ts'
import { createAddressFinder } from '../../start/doctor.ts'
import { type DatabaseReader, openDatabaseReader } from '../../storage/database/open-reader.ts'
import { createFileReader } from '../../storage/files/open-file-store.ts'
import { inspectClickHouseAt } from '../../storage/hits/clickhouse/inspect.ts'
import { toHitFilePath } from '../../storage/hits/duckdb/hit-file.ts'
import { inspectDuckDbFile } from '../../storage/hits/duckdb/inspect.ts'
import type { HitInspection } from '../../storage/hits/hit-engine.ts'
import { isDataDirLocked } from '../../storage/lock.ts'

/** @param mailTo the recipient of a test mail */
export async function runDoctor(mailTo?: string): Promise<DoctorReport> {
  const inspection = inspectConfig()
  const { config, problems } = inspection
  const server = isDataDirLocked(config.dataDir)
    ? createServerClient(config, readSecret(inspection), Date.now)
    : undefined
  const rows = openRowsOnce(config)
  try {
    const needs = toNeeds(inspection, rows.open, server, mailTo)
    return toReport(await runFor(needs, problems.length > 0, server), Date.now())
  } finally {
    await rows.close()
  }
}

/** All checks share one connection. */
function openRowsOnce(config: ConfigInspection['config']) {
  let rows: Promise<DatabaseReader> | undefined
  return {
    open() {
      rows ??= openDatabaseReader(config)
      return rows
    },
    async close() {
      const opened = await rows?.catch(() => undefined)
      await opened?.close()
    },
  }
}

/** Wrong settings lead to other stores than the server's, so only the checks without stores make sense. */
async function runFor(
  needs: DoctorNeeds,
  hasProblems: boolean,
  server?: ServerClient,
): Promise<DoctorFinding[]> {
  if (hasProblems)
    return runChecks(
      needs,
      CHECKS.filter(({ needsNoSettings }) => needsNoSettings),
    )
  if (!server) return runChecks(needs)
  const ofServer = CHECKS.filter(({ isOfServer }) => isOfServer)
  const [own, others] = await Promise.all([
    runChecks(
      needs,
      CHECKS.filter(({ isOfServer }) => !isOfServer),
    ),
    server.listFindings().catch((error: Error) => toSilence(ofServer, error)),
  ])
  return sortByCheck([...own, ...others])
}

/** The server has the lock of the directory, but does not answer. */
const toSilence = (checks: Check[], { message }: Error): DoctorFinding[] =>
  checks.map(({ name }) =>
    name === SERVER_CHECK
      ? {
          check: name,
          status: 'problem',
          summary: message,
          fix: 'Run the command with the environment of the server (PORT, HOST), or see the log of the server.',
        }
      : { check: name, status: 'skipped', summary: 'The server did not answer.' },
  )

const sortByCheck = (findings: DoctorFinding[]): DoctorFinding[] =>
  CHECKS.flatMap(({ name }) => findings.filter(({ check }) => check === name))

const readSecret = ({ config, secret }: ConfigInspection) => secret ?? findSecret(config.dataDir)

function toNeeds(
  inspection: ConfigInspection,
  openRows: DoctorNeeds['openRows'],
  server: ServerClient | undefined,
  mailTo?: string,
): DoctorNeeds {
  const { config, problems } = inspection
  const { dataDir, workers, clickHouseUrls } = config
  return {
    settings: config,
    secret: readSecret(inspection),
    configProblems: problems,
    versions: VERSIONS,
    now: Date.now,
    openRows,
    openFiles: async () => createFileReader(toFileStorePlace(config)),
    async inspectHits(withClicks) {
      if (clickHouseUrls) return inspectClickHouseAt(clickHouseUrls, withClicks)
      return server ? server.inspect() : inspectDuckDbFile(toHitFilePath(dataDir), withClicks)
    },
    findAddresses: createAddressFinder(config),
    nodeDirectories:
      workers === 1 ? [dataDir] : Array.from({ length: workers }, (_, i) => join(dataDir, `worker-${i + 1}`)),
    isServerRunning: server !== undefined,
    isThorough: true,
    mailTo,
  }
}

interface ServerClient {
  listFindings(): Promise<DoctorFinding[]>
  /** Marks only. */
  inspect(): Promise<HitInspection>
}

interface ServerAddress {
  host?: string
  port: number
}

/** Longer than the checks may take there. */
const TIMEOUT_MS = 9_500

/** Asks the running server for the findings that only it can make: it alone has the hit engine open. */
function createServerClient(
  address: ServerAddress,
  secret: string | undefined,
  now: () => number,
): ServerClient {
  const origin = toOrigin(address)
  async function ask<T>(path: string): Promise<T> {
    if (secret === undefined) throw new Error('A server runs on DATA_DIR, and its secret cannot be read.')
    const token = createOperatorToken(secret, 'findings', now())
    const answer = await requestFromOperator({
      url: `${origin}/api/doctor/${path}`,
      headers: { authorization: `Bearer ${token}` },
      timeoutMs: TIMEOUT_MS,
    })
    if ('reason' in answer)
      throw new Error(`A server runs on DATA_DIR, and does not answer at ${origin} (${answer.reason}).`)
    const body = parseJson(answer.body) as (T & { proof?: string }) | undefined
    if (body?.proof === toAnswerProof(secret, token)) return body
    throw new Error(`Another server than the one on DATA_DIR answers at ${origin} (HTTP ${answer.status}).`)
  }
  return {
    listFindings: async () => (await ask<{ findings: DoctorFinding[] }>('findings')).findings,
    inspect: async () => (await ask<{ inspection: HitInspection }>('inspection')).inspection,
  }
}

/** Where the server listens, seen from this machine. */
function toOrigin({ host, port }: ServerAddress): string {
  const isEverywhere = host === undefined || host === '0.0.0.0' || host === '::'
  const name = isEverywhere ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port}`
}
