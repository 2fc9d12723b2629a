// Wires the doctor inside a server: what its checks need is open already.

import { lookup } from 'node:dns/promises'
import manifest from '../package.json' with { type: 'json' }
import type { Config } from './config.ts'
import { createDoctor, type Doctor } from './features/doctor/report/doctor.ts'
import type { HitWorkerClient } from './features/hits/worker/client.ts'
import type { Database } from './storage/database/open-database.ts'

/** What package.json says. */
export const VERSIONS = { towpath: manifest.version, bun: manifest.dependencies.bun }

interface ServerDoctorNeeds {
  db: Database
  hitWorker: Pick<HitWorkerClient, 'inspect'>
  now: () => number
}

export const createServerDoctor = (config: Config, { db, hitWorker, now }: ServerDoctorNeeds): Doctor =>
  createDoctor({
    settings: config,
    secret: config.secret,
    // A server that runs has valid settings.
    configProblems: [],
    versions: VERSIONS,
    now,
    openRows: async () => db,
    inspectHits: hitWorker.inspect,
    findAddresses,
    nodeDirectories: [config.dataDir],
    isServerRunning: true,
    isThorough: false,
  })

/** With the resolver of the system, which the doctor's connections use too. */
export const findAddresses = (name: string): Promise<string[]> =>
  lookup(name, { all: true }).then(
    (found) => found.map(({ address }) => address),
    () => [],
  )
