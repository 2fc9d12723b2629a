// Runs a deliverer in a separate process, so that a test can kill it. The arguments name the database.

import { createRateLimiter } from '../../server/features/accounts/access/rate-limiter.ts'
import { createNotificationContentReader } from '../../server/features/forms/submissions/notification-content.ts'
import { channelSenders } from '../../server/features/notify/channels/registry.ts'
import { createSealing } from '../../server/features/notify/channels/secrets.ts'
import { openDeliverer } from '../../server/features/notify/delivery/deliverer.ts'
import { createRecipientLinks } from '../../server/features/notify/recipients/recipient-links.ts'
import { type Network, parseNetwork } from '../../server/lib/ip-network.ts'
import { openDatabase } from '../../server/storage/database/open-database.ts'

const [dataDir = '', secret = '', databaseUrl] = process.argv.slice(2)
const origin = 'https://go.example'
const db = await openDatabase({ dataDir, databaseUrl })
await openDeliverer({
  db,
  now: Date.now,
  sealing: createSealing(secret),
  senders: channelSenders,
  send: { allow: [parseNetwork('127.0.0.1') as Network], origin },
  readReply: async () => undefined,
  readSubmission: createNotificationContentReader({
    db,
    origin,
    resolvePendingAttribution: async () => {},
    toFileUrl: () => '',
  }),
  recipients: { links: createRecipientLinks(secret, origin), limiter: createRateLimiter(db), origin },
  ownerEmails: async () => [],
  // As short as possible, but longer than an attempt to a receiver that answers.
  leaseMs: 1_000,
  pollMs: 100,
})
process.stdout.write('delivering\n')
