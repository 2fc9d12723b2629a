// The secret of a webhook, shown once.

import { ShownOnce } from '../../ui/shown-once.tsx'

export const SecretDialog = ({ secret, onClose }: { secret: string; onClose: () => void }) => (
  <ShownOnce title="The secret of this webhook" text={secret} label="Copy the secret" onClose={onClose}>
    <p className="mt-3 text-sm text-soft">
      Requests carry <code>webhook-id</code>, <code>webhook-timestamp</code> and{' '}
      <code>webhook-signature</code>; any library for Standard Webhooks checks them.
    </p>
  </ShownOnce>
)
