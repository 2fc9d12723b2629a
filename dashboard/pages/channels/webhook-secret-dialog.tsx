// The dialog that shows a webhook's secret once.

import { OneTimeSecretDialog } from '../../ui/copy/one-time-secret-dialog.tsx'

export const WebhookSecretDialog = ({ secret, onClose }: { secret: string; onClose: () => void }) => (
  <OneTimeSecretDialog title="Webhook secret" text={secret} label="Copy secret" onClose={onClose}>
    <p className="mt-3 text-sm text-soft">
      Requests have the headers <code>webhook-id</code>, <code>webhook-timestamp</code> and{' '}
      <code>webhook-signature</code>. Any library for Standard Webhooks can verify them.
    </p>
  </OneTimeSecretDialog>
)
