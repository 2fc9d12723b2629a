// The analytics of the whole workspace.

import { Page } from '../../ui/page.tsx'
import { AnalyticsPanel } from './analytics-panel.tsx'

const NO_FIXED_FILTERS = {}

export const AnalyticsPage = () => (
  <Page title="Analytics">
    <AnalyticsPanel fixed={NO_FIXED_FILTERS} />
  </Page>
)
