// Dependencies of the checks. The server and the command build them in different ways.

import type { Network } from '../../lib/ip-network.ts'
import type { DatabaseReader } from '../../storage/database/open-reader.ts'
import type { FileStore } from '../../storage/files/file-store.ts'
import type { HitInspection } from '../../storage/hits/hit-engine.ts'

/** The part of the configuration that the checks look at. */
export interface DoctorSettings {
  dataDir: string
  databaseUrl?: string
  databasePool: number
  workers: number
  clickHouseUrls?: string[]
  /** The public origin, without a trailing slash. */
  origin: string
  trustProxy: Network[]
  /** Private networks that requests for workspaces may reach. */
  webhookAllow: Network[]
  smtpUrl?: string
  mailFrom?: string
  diskReserveBytes: number
  hitRetentionDays?: number
  /** Scheduled backups. */
  backups?: { dir: string; hours: number }
}

export interface DoctorNeeds {
  settings: DoctorSettings
  /** Undefined where no start has made one. */
  secret: string | undefined
  /** Mistakes in the environment, in the sentences of the start. */
  configProblems: string[]
  /** The versions of this release and of the Bun that it was tested with. */
  versions: { towpath: string; bun: string }
  now: () => number
  /** @throws with a sentence for the operator when the rows cannot be read */
  openRows(): Promise<RowReader>
  /**
   * @returns undefined where no hit was ever loaded
   * @throws when the hit store is unavailable
   */
  inspectHits(withClicks: boolean): Promise<HitInspection | undefined>
  /** The files that people have sent. */
  openFiles(): Promise<Pick<FileStore, 'list' | 'read'>>
  /** Finds all addresses of a name; none when it has none, or when no name server answers. */
  findAddresses(name: string): Promise<string[]>
  /** The data directories of the nodes on this machine: one for each process (WORKERS). */
  nodeDirectories: string[]
  /** Whether a server runs on the directory. */
  isServerRunning: boolean
  /** Read files to their end. The server does not: redirects would wait for it. */
  isThorough: boolean
  /** The recipient of a test email. */
  mailTo?: string
}

/** The rows as the checks read them. */
export type RowReader = Pick<DatabaseReader, 'engine' | 'read'>

/** The row store cannot be read: one check says so, and the others that need it are skipped. */
export class RowStoreAway extends Error {}

/** @throws RowStoreAway */
export async function withRows<T>(
  { openRows }: Pick<DoctorNeeds, 'openRows'>,
  work: (rows: RowReader) => Promise<T>,
): Promise<T> {
  const rows = await openRows().catch((error: Error) => {
    throw new RowStoreAway(error.message, { cause: error.cause })
  })
  return work(rows)
}
