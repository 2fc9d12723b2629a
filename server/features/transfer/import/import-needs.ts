// Dependencies of imports, which services.ts opens.

import type { Database } from '../../../storage/database/open-database.ts'
import type { DiskSpace } from '../../../storage/disk-space.ts'
import type { Uploads } from '../../forms/uploads/uploads.ts'
import type { Site } from '../../links/link.ts'

export interface ImportNeeds {
  db: Database
  site: Site
  now: () => number
  dataDir: string
  /** Takes the files of submissions. */
  uploads: Pick<Uploads, 'store' | 'unfinished' | 'bytesPerWorkspace'>
  /** The disk of the data directory. */
  disk: Pick<DiskSpace, 'hasRoomFor' | 'hold'>
  /** This node: it has the files of its imports, and runs them. */
  node: string
  /** The path of the country database; when absent, the bundled one. */
  geoPath: string | undefined
  /** Clicks before this moment are past their retention at a time; 0 keeps all. */
  retentionStart(at: number): number
}
