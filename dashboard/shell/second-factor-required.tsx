// The page in place of a workspace that requires two-factor sign-in, for a member who has no second factor yet.

import { lazy, Suspense } from 'react'
import { Page } from '../ui/page.tsx'
import { SkeletonRows } from '../ui/skeleton.tsx'

const TwoFactorSettings = lazy(() =>
  import('../pages/settings/account/two-factor-settings.tsx').then((m) => ({ default: m.TwoFactorSettings })),
)

export const SecondFactorRequired = ({ workspace, onDone }: { workspace: string; onDone: () => void }) => (
  <Page
    title="Set up two-factor sign-in"
    description={`The owners of ${workspace} require a second factor. Set one up here, and the workspace opens.`}
  >
    <div className="grid max-w-3xl gap-6">
      <Suspense fallback={<SkeletonRows rows={3} className="h-40" />}>
        <TwoFactorSettings onDone={onDone} />
      </Suspense>
    </div>
  </Page>
)
