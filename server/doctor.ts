// Wires the doctor inside a server: what its checks need is open already.

import manifest from '../package.json' with { type: 'json' }
import type { Config } from './config.ts'
import { createDoctor, type Doctor } from './features/doctor/doctor.ts'
import type { HitWorkerClient } from './features/hits/worker/client.ts'
import type { Database } from './storage/database/open-database.ts'

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
    version: manifest.version,
    now,
    openRows: async () => db,
    inspectHits: hitWorker.inspect,
    nodeDirectories: [config.dataDir],
    isServerRunning: true,
    isThorough: false,
  })
