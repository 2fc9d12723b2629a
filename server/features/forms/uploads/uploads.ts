// Opens the upload store, its limits and its sweeper.

import type { Metric } from '../../../http/health-and-metrics.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import { toFileOwner } from '../../../storage/files/file-key.ts'
import type { FileStore } from '../../../storage/files/file-store.ts'
import { type FileStorePlace, openFileStore } from '../../../storage/files/open-file-store.ts'
import { createFileEraser } from './erase-files.ts'
import { createFileLinks, type FileLinks } from './file-links.ts'
import { createReceivingSlots, type ReceivingSlots } from './receiving-slots.ts'
import { createUploadSweeper } from './sweep-uploads.ts'

export interface Uploads {
  store: FileStore
  slots: ReceivingSlots
  /** Keys of files that may still get a row: no sweep takes them. */
  unfinished: Set<string>
  /** The most bytes of all files of one workspace. */
  bytesPerWorkspace: number
  /** Links in notifications. */
  links: FileLinks
  sweep: () => Promise<void>
  /** Deletes the bytes of files with deleted rows. */
  erase: () => Promise<void>
  metrics: () => Metric[]
  close: () => Promise<void>
}

interface UploadsNeeds {
  db: Database
  place: FileStorePlace
  /** Knows the name of the installation. */
  cluster: { instance: string }
  bytesPerWorkspace: number
  secret: string
  origin: string
  now: () => number
  clock?: () => number
  /** No other process writes into the store. */
  isAlone: boolean
}

export async function openUploads(needs: UploadsNeeds): Promise<Uploads> {
  const { db, place, bytesPerWorkspace, secret, origin, now, clock, isAlone } = needs
  const owner = toFileOwner(needs.cluster.instance)
  const store = await openFileStore({ ...place, owner, now })
  const slots = createReceivingSlots({ clock })
  const unfinished = new Set<string>()
  const sweeper = createUploadSweeper({ db, store, owner, now, unfinished, isAlone })
  const eraser = createFileEraser({ db, store })
  return {
    store,
    slots,
    unfinished,
    bytesPerWorkspace,
    links: createFileLinks(secret, origin),
    sweep: sweeper.run,
    erase: eraser.run,
    metrics: () => [
      ...eraser.metrics(),
      {
        name: 'towpath_uploads_receiving',
        kind: 'gauge',
        help: 'Uploads to forms that are received at this moment',
        value: slots.count(),
      },
      {
        name: 'towpath_uploads_stopped_total',
        kind: 'counter',
        help: 'Uploads that were ended because their clients sent too slowly',
        value: slots.stopped(),
      },
      {
        name: 'towpath_uploads_swept_total',
        kind: 'counter',
        help: 'Files without a submission that were deleted, such as those of a crash',
        value: sweeper.swept(),
      },
    ],
    async close() {
      slots.close()
      await store.close()
    },
  }
}
