"""Actors on Trio: mailboxes, supervision, timers, topics. Knows nothing of fleets."""

from motorpool.runtime.actor import Actor, ActorLog, Context
from motorpool.runtime.clock import Clock, SharedTime, SystemClock
from motorpool.runtime.conditions import Condition, ConditionKind, Conditions, ConditionsCollector
from motorpool.runtime.deferred import Deferred, Failure
from motorpool.runtime.errors import (
    ActorError,
    ActorFailed,
    ActorStopped,
    AlreadyStarted,
    AskTimedOut,
    Busy,
    Lagged,
    MailboxFull,
    RestartIntensityExceeded,
    UnknownKind,
    Unreachable,
    first_error,
)
from motorpool.runtime.far import Far, Placement, Whereabouts
from motorpool.runtime.intensity import BackOff
from motorpool.runtime.kind import Kind, NodeLocal, Request
from motorpool.runtime.link import Arrived, Carried, Channel, Link, Moved, Pipe
from motorpool.runtime.loop_stalls import LoopStalls
from motorpool.runtime.mailbox import MailboxStatistics
from motorpool.runtime.ref import Ref
from motorpool.runtime.signal import Signal
from motorpool.runtime.snapshot import ActorState, KindTotals, TopicStatistics
from motorpool.runtime.specs import ChildSpec, DynamicSpec, Restart, Strategy, SupervisorSpec, TaskSpec
from motorpool.runtime.system import System
from motorpool.runtime.timer_heap import Timer
from motorpool.runtime.timers import Timers
from motorpool.runtime.topic import Subscription, Topic, TopicName
from motorpool.runtime.tree import open_system

__all__ = [
    "Actor",
    "ActorError",
    "ActorFailed",
    "ActorLog",
    "ActorState",
    "ActorStopped",
    "AlreadyStarted",
    "Arrived",
    "AskTimedOut",
    "BackOff",
    "Busy",
    "Carried",
    "Channel",
    "ChildSpec",
    "Clock",
    "Condition",
    "ConditionKind",
    "Conditions",
    "ConditionsCollector",
    "Context",
    "Deferred",
    "DynamicSpec",
    "Failure",
    "Far",
    "Kind",
    "KindTotals",
    "Lagged",
    "Link",
    "LoopStalls",
    "MailboxFull",
    "MailboxStatistics",
    "Moved",
    "NodeLocal",
    "Pipe",
    "Placement",
    "Ref",
    "Request",
    "Restart",
    "RestartIntensityExceeded",
    "SharedTime",
    "Signal",
    "Strategy",
    "Subscription",
    "SupervisorSpec",
    "System",
    "SystemClock",
    "TaskSpec",
    "Timer",
    "Timers",
    "Topic",
    "TopicName",
    "TopicStatistics",
    "UnknownKind",
    "Unreachable",
    "Whereabouts",
    "first_error",
    "open_system",
]
