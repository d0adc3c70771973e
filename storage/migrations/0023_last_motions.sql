-- The last time that a device started or stopped moving, with which its state is rebuilt when it connects.

create index events_motion on events (device_id, event_time, id)
    where type in ('deviceMoving', 'deviceStopped');
