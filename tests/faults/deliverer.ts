// A deliverer in a process of its own, to be killed: over the store that its arguments name, until it is ended.

import { tellSubmissions } from '../../server/features/forms/told-submission.ts'
import { sendBy } from '../../server/features/notify/channels.ts'
import { openDeliverer } from '../../server/features/notify/deliver.ts'
import { sealing } from '../../server/features/notify/secrets.ts'
import { type Network, parseNetwork } from '../../server/lib/cidr.ts'
import { openRows } from '../../server/storage/rows/open.ts'

const [dataDir = '', secret = '', databaseUrl] = process.argv.slice(2)
const origin = 'https://go.example'
const rows = await openRows({ dataDir, databaseUrl })
await openDeliverer({
  rows,
  now: Date.now,
  sealing: sealing(secret),
  sendBy,
  send: { allow: [parseNetwork('127.0.0.1') as Network], origin },
  readSubmission: tellSubmissions({ rows, origin, settleAttribution: async () => {} }),
  ownerEmails: async () => [],
  // The shortest that is longer than an attempt to a receiver that answers.
  leaseMs: 1_000,
  pollMs: 100,
})
process.stdout.write('delivering\n')
