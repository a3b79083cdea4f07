/** What became of a request to a source, for whoever watches: a screen, a counter. Strangers are told less. */
export type ReceivedNotice =
  | (About & {
      /** `skipped`: received before. `ignored`: nobody is for its type, and the source keeps no such events. */
      readonly became: 'stored' | 'skipped' | 'ignored';
      readonly eventId: string;
      readonly eventType: string;
      /** How many handlers and endpoints get it. */
      readonly destinations: number;
    })
  /** A challenge of the provider: nothing is stored. */
  | (About & { readonly became: 'answered' })
  | (About & { readonly became: 'refused'; readonly reason: string });

interface About {
  /** The uid of the source, or its id; the name in the URL where there is no such source. */
  readonly source: string;
  /** What the sender was answered. */
  readonly status: number;
}
