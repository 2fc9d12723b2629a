// All that is known of clicks and leads, on one page.

import { Page } from '../../ui/page.tsx'
import { AnalyticsPanel } from './analytics-panel.tsx'

const NOTHING = {}

export const AnalyticsPage = () => (
  <Page title="Analytics">
    <AnalyticsPanel fixed={NOTHING} />
  </Page>
)
