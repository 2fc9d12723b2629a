// The channels that cannot send although they are turned on. In a separate file from the explanations, because the
// sidebar counts them on every page.

import type { ChannelResource } from '../../api/channels.ts'

export const isInTrouble = ({
  enabled,
  disabledReason,
  unavailableReason,
  failingSince,
}: ChannelResource): boolean =>
  disabledReason !== null || (enabled && (unavailableReason !== null || failingSince !== null))
