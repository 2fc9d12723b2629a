// Fixture of the doctor's tests: dependencies of the checks, on a directory and a row store of their own.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DatabaseHandle, openDatabase } from '../../storage/database/open-database.ts'
import { createDirectoryReader } from '../../storage/files/directory-store.ts'
import type { CheckResult } from './finding.ts'
import type { DoctorNeeds } from './needs.ts'

export interface DoctorPatient {
  dataDir: string
  db: DatabaseHandle
  /** The needs of the checks, with changes. */
  needs(changes?: Partial<DoctorNeeds>, settings?: Partial<DoctorNeeds['settings']>): DoctorNeeds
  end(): Promise<void>
}

export const GOOD_SECRET = 'kX3vQ9mZ7pLw2sRt8yBn4cHd6fJg1aVe'

export async function createPatient(databaseUrl?: string): Promise<DoctorPatient> {
  const dataDir = mkdtempSync(join(tmpdir(), 'towpath-doctor-'))
  const db = await openDatabase({ dataDir, databaseUrl })
  return {
    dataDir,
    db,
    needs: (changes, settings) => ({
      settings: {
        dataDir,
        databaseUrl,
        databasePool: 10,
        workers: 1,
        origin: 'https://go.example',
        trustProxy: [],
        webhookAllow: [],
        diskReserveBytes: 0,
        ...settings,
      },
      secret: GOOD_SECRET,
      configProblems: [],
      versions: { towpath: '0.1.0', bun: Bun.version },
      now: Date.now,
      openRows: async () => db,
      openFiles: async () => createDirectoryReader(join(dataDir, 'uploads')),
      inspectHits: async () => undefined,
      findAddresses: async () => [],
      nodeDirectories: [dataDir],
      isServerRunning: false,
      isThorough: true,
      ...changes,
    }),
    async end() {
      await db.close()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/** The worst first: what a person would read. */
export const summarize = (results: CheckResult[]) =>
  results.map(({ status, summary }) => `${status}: ${summary}`).join('\n')
