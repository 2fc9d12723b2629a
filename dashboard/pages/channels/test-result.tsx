// What came of a test.

import type { ChannelResource, DeliveryDetail } from '../../api/channels.ts'
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
    title={delivery.status === 'delivered' ? 'The test has arrived' : 'The test did not arrive'}
    description={channel.name}
    footer={<Button onClick={onClose}>Close</Button>}
  >
    <AttemptList attempts={delivery.attempts} />
  </Dialog>
)
