// The secret of a webhook, shown once.

import { OneTimeSecretDialog } from '../../ui/copy/one-time-secret-dialog.tsx'

export const WebhookSecretDialog = ({ secret, onClose }: { secret: string; onClose: () => void }) => (
  <OneTimeSecretDialog
    title="The secret of this webhook"
    text={secret}
    label="Copy the secret"
    onClose={onClose}
  >
    <p className="mt-3 text-sm text-soft">
      Requests carry <code>webhook-id</code>, <code>webhook-timestamp</code> and{' '}
      <code>webhook-signature</code>; any library for Standard Webhooks checks them.
    </p>
  </OneTimeSecretDialog>
)
