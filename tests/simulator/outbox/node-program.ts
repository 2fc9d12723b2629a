// The product's code in a simulated node: the outbox, its deliverer, and the jobs beside it.

export { openDeliverer } from '../../../server/features/notify/delivery/deliverer.ts'
export { createClockFollower } from '../../../server/features/notify/delivery/follow-clock.ts'
export { pruneAttempts } from '../../../server/features/notify/delivery/prune-attempts.ts'
export { enqueueDeliveries } from '../../../server/features/notify/outbox/enqueue-deliveries.ts'
export { setLogLevel } from '../../../server/lib/log.ts'
