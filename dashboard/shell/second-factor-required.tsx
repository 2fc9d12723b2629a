// The page in place of a workspace that requires two-factor sign-in, for a member who has no second factor yet.

import { TwoFactorSettings } from '../pages/settings/account/two-factor-settings.tsx'
import { Page } from '../ui/page.tsx'

export const SecondFactorRequired = ({ workspace, onDone }: { workspace: string; onDone: () => void }) => (
  <Page
    title="Set up two-factor sign-in"
    description={`The owners of ${workspace} require a second factor. Set one up here, and the workspace opens.`}
  >
    <div className="grid max-w-3xl gap-6">
      <TwoFactorSettings onDone={onDone} />
    </div>
  </Page>
)
