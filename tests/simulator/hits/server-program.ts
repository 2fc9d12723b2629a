// The product's code in a simulated server: the spool, the client of the hit worker, and the recorder of hits.

export { recordHit } from '../../../server/features/hits/record.ts'
export { openSpool } from '../../../server/features/hits/spool/spool.ts'
export { openHitWorkerClient } from '../../../server/features/hits/worker/client.ts'
export { setLogLevel } from '../../../server/lib/log.ts'
