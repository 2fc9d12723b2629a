// Wires the doctor inside a server, whose stores are open already.

import type { Config } from '../config/config.ts'
import { VERSIONS } from '../config/version.ts'
import { createDoctor, type Doctor } from '../features/doctor/report/doctor.ts'
import type { HitWorkerClient } from '../features/hits/worker/client.ts'
import { createDnsClients } from '../features/links/domains/dns-client.ts'
import type { Database } from '../storage/database/open-database.ts'
import type { FileStore } from '../storage/files/file-store.ts'

interface ServerDoctorNeeds {
  db: Database
  hitWorker: Pick<HitWorkerClient, 'inspect'>
  now: () => number
  uploads: { store: Pick<FileStore, 'list' | 'read'> }
}

export const createServerDoctor = (
  config: Config,
  { db, hitWorker, now, uploads }: ServerDoctorNeeds,
): Doctor =>
  createDoctor({
    settings: config,
    secret: config.secret,
    // A server that runs has valid settings.
    configProblems: [],
    versions: VERSIONS,
    now,
    openRows: async () => db,
    openFiles: async () => uploads.store,
    inspectHits: hitWorker.inspect,
    findAddresses: createAddressFinder(config),
    nodeDirectories: [config.dataDir],
    isServerRunning: true,
    isThorough: false,
  })

/** Asks the DNS servers that domains are checked with. */
export function createAddressFinder({
  dnsServers,
}: Pick<Config, 'dnsServers'>): (name: string) => Promise<string[]> {
  const openDnsClient = createDnsClients(dnsServers)
  return async (name) => {
    const dns = openDnsClient()
    const answer = await dns.listAddresses(name).finally(dns.close)
    return 'values' in answer ? answer.values : []
  }
}
