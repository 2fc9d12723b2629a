// The result of a channel's test.

import type { ChannelResource } from '../../api/channels.ts'
import type { DeliveryDetail } from '../../api/deliveries.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'
import { AttemptList } from '../deliveries/attempt-list.tsx'
import { SentRequest } from '../deliveries/sent-request.tsx'

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
    <div className="grid gap-5">
      <AttemptList attempts={delivery.attempts} />
      {delivery.status === 'failed' && (
        <section className="grid gap-2">
          <h3 className="font-semibold">Request</h3>
          <SentRequest delivery={delivery} />
        </section>
      )}
    </div>
  </Dialog>
)
