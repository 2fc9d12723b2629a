// Opens what no visitor waits for: the services behind the API and the sign-in, imports, the doctor, and the jobs. It is loaded
// once the server listens.

import { dirname } from 'node:path'
import type { Config } from '../config/config.ts'
import { type BackupSchedule, createBackupSchedule } from '../features/backup/schedule.ts'
import { createSubmissionPruner } from '../features/forms/erasure/prune-submissions.ts'
import { toRetentionStart } from '../features/hits/retention.ts'
import { type ImportServiceNeeds, openImports } from '../features/transfer/import/open-imports.ts'
import type { Metric } from '../http/health-and-metrics.ts'
import { createApiNeeds } from './api-needs.ts'
import type { CommonParts } from './common-parts.ts'
import { createServerDoctor } from './doctor.ts'
import { startJobs } from './jobs.ts'
import type { Notify } from './notify.ts'
import type { MetricsNeeds } from './observability.ts'
import type { PublicEndpoints } from './public-endpoints.ts'
import type { Stores } from './stores.ts'
import { createViewNeeds } from './views.ts'

export interface LaterOptions {
  worker?: MetricsNeeds['worker']
  reading?: Pick<ImportServiceNeeds, 'sliceMs' | 'deadlineMs' | 'startReader'>
  addMetrics: (read: () => Metric[]) => void
}

interface LaterParts extends CommonParts, PublicEndpoints {
  hitWorker: Stores['hitWorker']
  setSalts: Stores['setSalts']
  notify: Notify
}

/** Jobs run from now on. */
export function openLaterServices(
  config: Config,
  { hitWorker, setSalts, notify, ...shared }: LaterParts,
  { worker, reading, addMetrics }: LaterOptions,
) {
  const { now } = shared
  const backups = createServiceBackups(config, now, worker)
  const doctor = createServerDoctor(config, { ...shared, hitWorker })
  const imports = openServiceImports(config, { ...shared, ...reading })
  const submissionPruner = createSubmissionPruner(shared)
  const jobs = startJobs(config, {
    ...shared,
    setSalts,
    imports,
    submissionPruner,
    backups,
    wakeDeliverer: () => notify.wake(),
  })
  for (const part of [backups, imports, submissionPruner]) addMetrics(part.metrics)
  return {
    sharedViews: createViewNeeds(config, shared),
    mailRoutes: notify.mailRoutes,
    doctor,
    doctorRoutes: { ...config, ...doctor, inspectHits: hitWorker.inspect, now },
    signIn: { ...config, ...shared },
    api: createApiNeeds(config, { ...shared, imports, notify, doctor }),
    async close() {
      backups.stop()
      await imports.stop()
      await jobs.stop()
    },
  }
}

const openServiceImports = (
  { dataDir, geoipDb, hitRetentionDays: days }: Config,
  shared: CommonParts & LaterOptions['reading'],
) =>
  openImports({
    ...shared,
    ...shared.hits,
    dataDir,
    node: shared.spool.node,
    geoPath: geoipDb,
    retentionStart: (at) => toRetentionStart(at, days),
  })

/** The first worker of a machine makes the backup of all: the command reads the settings that the supervisor has read. */
function createServiceBackups(
  config: Config,
  now: () => number,
  worker: MetricsNeeds['worker'],
): BackupSchedule {
  const settings = (worker?.number ?? 1) === 1 ? config.backups : undefined
  const dataDir = worker ? dirname(config.dataDir) : config.dataDir
  return createBackupSchedule({ settings, dataDir, now })
}
