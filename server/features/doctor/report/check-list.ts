// The list of all checks. A new check is a function in checks/ and a row here.

import { checkAddress } from '../checks/address.ts'
import { checkBackup } from '../checks/backup.ts'
import { checkClock } from '../checks/clock.ts'
import { checkConfiguration } from '../checks/configuration.ts'
import { checkCounters } from '../checks/counters.ts'
import { checkDisk } from '../checks/disk.ts'
import { checkDomains } from '../checks/domains.ts'
import { checkHitStore } from '../checks/hit-store.ts'
import { checkMail } from '../checks/mail.ts'
import { checkPermissions } from '../checks/permissions.ts'
import { checkReceivers } from '../checks/receivers.ts'
import { checkMigrations, checkRowStore } from '../checks/row-store.ts'
import { checkSecrets } from '../checks/secrets.ts'
import { checkSpool } from '../checks/spool.ts'
import { checkTls } from '../checks/tls.ts'
import { checkUploads } from '../checks/uploads.ts'
import { checkLimits, checkVersions } from '../checks/versions.ts'
import type { CheckResult } from '../finding.ts'
import type { DoctorNeeds } from '../needs.ts'

export interface Check {
  name: string
  title: string
  group: string
  run(needs: DoctorNeeds): Promise<CheckResult[]>
  /** Needs data of the running server: its process, or the hit engine of its worker. */
  isOfServer?: true
  /** It makes sense without valid settings. */
  needsNoSettings?: true
}

/** The check that says why the row store cannot be read. */
export const ROW_CHECK = 'rows'
/** The check that says that a server does not answer. */
export const SERVER_CHECK = 'hits'

export const CHECKS: readonly Check[] = [
  { name: 'settings', title: 'Settings', group: 'Server', run: checkConfiguration, needsNoSettings: true },
  { name: 'versions', title: 'Versions', group: 'Server', run: checkVersions, needsNoSettings: true },
  { name: 'limits', title: 'Limits', group: 'Server', run: checkLimits, isOfServer: true },
  { name: 'clock', title: 'Clock', group: 'Server', run: checkClock },
  { name: 'secrets', title: 'Secrets', group: 'Server', run: checkSecrets },
  { name: 'disk', title: 'Disk', group: 'Data', run: checkDisk, needsNoSettings: true },
  { name: 'permissions', title: 'Permissions', group: 'Data', run: checkPermissions, needsNoSettings: true },
  { name: ROW_CHECK, title: 'Row store', group: 'Data', run: checkRowStore },
  { name: 'migrations', title: 'Data model', group: 'Data', run: checkMigrations },
  { name: SERVER_CHECK, title: 'Hit store', group: 'Data', run: checkHitStore, isOfServer: true },
  { name: 'spool', title: 'Spool and batches', group: 'Data', run: checkSpool, isOfServer: true },
  { name: 'counters', title: 'Counters', group: 'Data', run: checkCounters, isOfServer: true },
  { name: 'uploads', title: 'Uploads', group: 'Data', run: checkUploads },
  { name: 'backup', title: 'Backup', group: 'Data', run: checkBackup },
  { name: 'address', title: 'Public address', group: 'Network', run: checkAddress },
  { name: 'tls', title: 'TLS', group: 'Network', run: checkTls },
  { name: 'domains', title: 'Domains', group: 'Network', run: checkDomains },
  { name: 'mail', title: 'Mail', group: 'Network', run: checkMail },
  { name: 'receivers', title: 'Receivers', group: 'Network', run: checkReceivers },
]
