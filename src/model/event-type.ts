/** The name of a kind of event, with optional JSON schemas by version. */
export interface EventType {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly archived: boolean;
  readonly deprecated: boolean;
  readonly groupName?: string;
  readonly featureFlag?: string;
  readonly schemas?: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
  readonly updatedAt: number;
}
