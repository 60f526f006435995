"""The one switch over sensor kinds."""
from mbros_core.plant.stream cimport Stream
from mbros_core.plant.sensors.contact_switch cimport ContactSwitchMemory, ContactSwitchNumbers, contact_switch_read
from mbros_core.plant.sensors.encoder cimport EncoderMemory, EncoderNumbers, encoder_read
from mbros_core.plant.sensors.force_torque cimport (ForceTorqueMemory, ForceTorqueNumbers, force_torque_follows, force_torque_read,
                                              force_torque_see)
from mbros_core.plant.sensors.imu cimport ImuMemory, ImuNumbers, imu_read
from mbros_core.plant.sensors.odometry cimport OdometryMemory, OdometryNumbers, odometry_read
from mbros_core.plant.sensors.pose cimport PoseMemory, pose_read
from mbros_core.plant.sensors.sensor cimport Truth
from mbros_core.plant.sensors.torque cimport TorqueMemory, TorqueNumbers, torque_read

# The numbers of mbros_core.plant.sensors.registry (tests/engine/test_numbers_by_name.py).
cdef enum SensorKind:
    ENCODER = 0
    TORQUE = 1
    IMU = 2
    FORCE_TORQUE = 3
    CONTACT_SWITCH = 4
    ODOMETRY = 5
    POSE = 6

cdef enum Sight:            # what a kind sees, which the tick finds for it: plant/truth.pxd
    A_JOINT = 0
    A_FRAME = 1
    A_WRENCH = 2
    CONTACTS = 3


cdef inline int sight(int kind) noexcept nogil:
    if kind == IMU or kind == POSE:
        return A_FRAME
    if kind == FORCE_TORQUE:
        return A_WRENCH
    return CONTACTS if kind == CONTACT_SWITCH else A_JOINT


cdef inline bint accelerates(int kind) noexcept nogil:
    """Whether it sees accelerations."""
    return kind == IMU


cdef inline bint follows(int kind, const double* par) noexcept nogil:
    """Whether it is to see every step, those without a sample too."""
    return kind == FORCE_TORQUE and force_torque_follows(<const ForceTorqueNumbers*>par)


cdef inline void see(int kind, const double* par, double* mem, double h, double tick, double reach, Truth* truth) noexcept nogil:
    """Step `tick`, of h; before the sample, where there is one."""
    if kind == FORCE_TORQUE:
        force_torque_see(<const ForceTorqueNumbers*>par, <ForceTorqueMemory*>mem, h, tick, reach, truth)


cdef inline void read(int kind, const double* par, double* mem, const Stream* s, double period, double elapsed, const Truth* truth,
                      double* out) noexcept nogil:
    """One sample. period: 1 / rate, of which noise is; elapsed: the true time since the last sample, by which differences are divided."""
    if kind == IMU:
        imu_read(<const ImuNumbers*>par, <ImuMemory*>mem, s, period, truth, out)
    elif kind == TORQUE:
        torque_read(<const TorqueNumbers*>par, <TorqueMemory*>mem, s, period, truth, out)
    elif kind == FORCE_TORQUE:
        force_torque_read(<const ForceTorqueNumbers*>par, <ForceTorqueMemory*>mem, s, period, truth, out)
    elif kind == CONTACT_SWITCH:
        contact_switch_read(<const ContactSwitchNumbers*>par, <ContactSwitchMemory*>mem, truth, out)
    elif kind == ODOMETRY:
        odometry_read(<const OdometryNumbers*>par, <OdometryMemory*>mem, elapsed, truth, out)
    elif kind == POSE:
        pose_read(<PoseMemory*>mem, truth, out)
    else:
        encoder_read(<const EncoderNumbers*>par, <EncoderMemory*>mem, elapsed, truth, out)
