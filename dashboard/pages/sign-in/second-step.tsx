// The second step of a sign-in: a second factor after the password, or after the identity provider.

import { SecondStepForm } from '../../shell/second-step-form.tsx'
import { CenteredPage } from './centered-page.tsx'

export const SecondStep = ({ onDone, onCancel }: { onDone: () => void; onCancel: () => void }) => (
  <CenteredPage title="Two-factor sign-in" description="Confirm it’s you.">
    <SecondStepForm onDone={onDone} onBack={onCancel} />
  </CenteredPage>
)
