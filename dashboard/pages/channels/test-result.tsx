// The result of a channel's test.

import type { ChannelResource } from '../../api/channels.ts'
import type { DeliveryDetail } from '../../api/deliveries.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'
import { AttemptList } from '../deliveries/attempt-list.tsx'

export const TestResult = ({
  channel,
  delivery,
  onClose,
}: {
  channel: ChannelResource
  delivery: DeliveryDetail
  onClose: () => void
}) => (
  <Dialog
    open
    onClose={onClose}
    title={delivery.status === 'delivered' ? 'Test delivered' : 'Test failed'}
    description={channel.name}
    footer={<Button onClick={onClose}>Close</Button>}
  >
    <AttemptList attempts={delivery.attempts} />
  </Dialog>
)
